/* SPDX-License-Identifier: MIT */

#include "sim/engine/record.h"

const char *
segment_end_to_string(SegmentEnd end)
{
	switch (end) {
	case SEGMENT_FINISHED:
		return "finished";
	case SEGMENT_PREEMPTED:
		return "preempted";
	case SEGMENT_MOVED:
		return "moved";
	case SEGMENT_SPEED:
		return "speed";
	case SEGMENT_FAILED:
		return "failed";
	case SEGMENT_TIMEOUT:
		return "timeout";
	case SEGMENT_STOPPED:
		return "stopped";
	case SEGMENT_PAUSED:
		return "paused";
	}
	g_assert_not_reached();
}

void
run_record_free(RunRecord *record)
{
	if (record == NULL)
		return;
	g_free(record->jobs);
	g_free(record->apps);
	g_free(record->first_refusal);
	if (record->strings != NULL)
		g_string_chunk_free(record->strings);
	g_free(record);
}
