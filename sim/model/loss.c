/* SPDX-License-Identifier: MIT */
#include "sim/model/loss.h"

#include <string.h>

#include "sim/base/text.h"

#define BILLION 1e9

static gboolean
parse_billionths(const char *text, gint64 max, gint64 *ret_billionths)
{
	DecimalVerdict verdict = decimal_parse(text, strlen(text), 9, ret_billionths);

	return (verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED) && *ret_billionths <= max;
}

gboolean
loss_curve_parse(const char *text, LossCurve *ret_curve)
{
	g_auto(GStrv) parts = g_strsplit(text, ":", -1);
	const gint64 max = (gint64)(LOSS_MAX * BILLION);
	gint64 start, end, half_ns;

	if (g_strv_length(parts) != 3 || !parse_billionths(parts[0], max, &start) ||
	    !parse_billionths(parts[1], max, &end) ||
	    !parse_billionths(parts[2], G_MAXINT64, &half_ns) || half_ns == 0)
		return FALSE;
	*ret_curve = (LossCurve){ (double)start / BILLION, (double)end / BILLION, half_ns };
	return TRUE;
}

void
loss_curve_append(GString *out, const LossCurve *curve)
{
	decimal_append_double(out, curve->start);
	g_string_append_c(out, ':');
	decimal_append_double(out, curve->end);
	g_string_append_c(out, ':');
	seconds_append(out, curve->half_ns);
}

double
loss_at(const LossCurve *curve, SimWork work_ns)
{
	return curve->end +
	       (curve->start - curve->end) / (1 + (double)work_ns / (double)curve->half_ns);
}
