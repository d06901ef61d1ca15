/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The numbers that decide anything are integers, so that a result is the same to the byte
 * whatever compiler, optimisation or host made it (DESIGN 2).
 *
 *   SimTime   nanoseconds since the first submit of the trace
 *   SimWork   nanoseconds of run time at speed 1
 *   speed     parts per billion (ppb) of the job's reference speed
 *   share     thousandths of a GPU (milli)
 *   GpuTime   thousandths of a GPU times nanoseconds, in 128 bits
 */

#include <glib.h>

typedef gint64 SimTime;
typedef gint64 SimWork;
typedef __int128 GpuTime;

#define TIME_NEVER         G_MAXINT64
#define NS_PER_S           G_GINT64_CONSTANT(1000000000)
#define SPEED_ONE_PPB      G_GINT64_CONSTANT(1000000000)
#define GPU_MILLI          1000u

/* One thousandth of a GPU for one nanosecond is the unit; this many make a GPU-second. */
#define GPU_TIME_PER_GPU_S ((GpuTime)GPU_MILLI * NS_PER_S)

/* How long @work_ns takes at @speed_ppb > 0: rounded up, so that the work is done at the end.
 * TIME_NEVER if beyond the clock. */
static inline SimTime
work_length_ns(SimWork work_ns, gint64 speed_ppb)
{
	__int128 length = ((__int128)work_ns * SPEED_ONE_PPB + speed_ppb - 1) / speed_ppb;

	return length >= TIME_NEVER ? TIME_NEVER : (SimTime)length;
}

/* What a stretch of @length_ns at @speed_ppb has done: rounded down (SEMANTICS A05). */
static inline SimWork
work_done_ns(SimTime length_ns, gint64 speed_ppb)
{
	return (SimWork)((__int128)length_ns * speed_ppb / SPEED_ONE_PPB);
}

/* A later time; saturates at TIME_NEVER. */
static inline SimTime
time_add(SimTime at_ns, SimTime length_ns)
{
	return length_ns >= TIME_NEVER - at_ns ? TIME_NEVER : at_ns + length_ns;
}
