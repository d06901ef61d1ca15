/* SPDX-License-Identifier: MIT */
#include "traces/variate.h"

#include <math.h>

/* ln 2 in two parts: the first has zeros at its end, so that small multiples of it are exact. */
#define LN2_HIGH     0x1.62e42feep-1
#define LN2_LOW      0x1.a39ef35793c76p-33
#define SQRT_2       0x1.6a09e667f3bcdp+0

#define LN_SQRT_2_PI 0x1.d67f1c864beb5p-1

/* Beyond this many sigma nothing is left that a double could tell from 0 or 1. */
#define MAX_SIGMA    8.5

Variate
variate_constant(double value)
{
	return (Variate){ .kind = VARIATE_CONSTANT, .first = value, .most = HUGE_VAL };
}

void
variate_clear(Variate *variate)
{
	g_clear_pointer(&variate->points, g_array_unref);
}

void
variate_scale(Variate *variate, double factor)
{
	variate->first *= factor;
	/* Of the others the second is a shape. */
	if (variate->kind == VARIATE_UNIFORM)
		variate->second *= factor;
	variate->least *= factor;
	variate->most *= factor;
	for (guint i = 0; variate->points && i < variate->points->len; i++)
		g_array_index(variate->points, VariatePoint, i).value *= factor;
}

/*
 * ln(m * 2^e) = ln m + e ln 2 with m near 1, and ln m = 2 artanh(s) for s = (m - 1) / (m + 1): an
 * odd series that is below a half of the last bit after s^23, as |s| < 0.172.
 */
double
variate_log(double x)
{
	int exponent;
	double mantissa = frexp(x, &exponent);
	double s, square, sum = 0;

	if (mantissa * SQRT_2 < 1) {
		mantissa *= 2;
		exponent--;
	}
	s = (mantissa - 1) / (mantissa + 1);
	square = s * s;
	for (int power = 23; power >= 1; power -= 2)
		sum = sum * square + 1.0 / power;
	return exponent * LN2_HIGH + (2 * s * sum + exponent * LN2_LOW);
}

/* e^x = 2^k e^r with |r| <= ln 2 / 2, where twenty terms of the series are more than enough. */
double
variate_exp(double x)
{
	double k, r, sum = 1;

	if (x > 709)
		return HUGE_VAL;
	if (x < -709)
		return 0;
	k = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
	r = (x - k * LN2_HIGH) - k * LN2_LOW;
	for (int n = 20; n >= 1; n--)
		sum = 1 + sum * r / n;
	return ldexp(sum, (int)k);
}

static double
normal_density(double z)
{
	return variate_exp(-0.5 * z * z - LN_SQRT_2_PI);
}

/* 1/2 + the density times z + z^3/3 + z^5/(3 5) + ...: Marsaglia, "Evaluating the normal
 * distribution", 2004. */
double
variate_normal_cdf(double z)
{
	double term = z, sum = z, before = 0;

	if (z < -MAX_SIGMA)
		return 0;
	if (z > MAX_SIGMA)
		return 1;
	for (double n = 3; sum != before; n += 2) {
		before = sum;
		term *= z * z / n;
		sum += term;
	}
	return 0.5 + sum * normal_density(z);
}

/* Newton's method, which comes from below and never passes the end, as the distribution is concave
 * above its middle. */
double
variate_normal_quantile(double unit)
{
	double above = unit < 0.5 ? 1 - unit : unit;
	double z = 0, before = -1;

	while (z > before && z < MAX_SIGMA) {
		before = z;
		z += (above - variate_normal_cdf(z)) / normal_density(z);
	}
	z = MIN(z, MAX_SIGMA);
	return unit < 0.5 ? -z : z;
}

/* In (0, 1]: its logarithm exists. */
static double
unit_above_zero(RngStream stream, guint64 entity, guint64 draw)
{
	return 1 - rng_unit(stream, entity, draw);
}

double
variate_unit_exponential(RngStream stream, guint64 entity)
{
	return -variate_log(unit_above_zero(stream, entity, 0));
}

/* Marsaglia's polar method, with as many pairs of draws as it takes. */
double
variate_unit_normal(RngStream stream, guint64 entity)
{
	double x, square;
	guint64 draw = 0;

	do {
		double y;

		x = 2 * rng_unit(stream, entity, draw++) - 1;
		y = 2 * rng_unit(stream, entity, draw++) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * variate_log(square) / square);
}

static double
choose_point(const Variate *variate, double unit)
{
	const VariatePoint *point = &g_array_index(variate->points, VariatePoint, 0);

	while (unit >= point->up_to)
		point++;
	return point->value;
}

static double
interpolate(const Variate *variate, double unit)
{
	const VariatePoint *point = &g_array_index(variate->points, VariatePoint, 0);
	double part;

	if (unit < point->up_to)
		return point->value;
	do
		point++;
	while (unit >= point->up_to);
	part = (unit - point[-1].up_to) / (point->up_to - point[-1].up_to);
	return point[-1].value + (point->value - point[-1].value) * part;
}

static double
quantile_freely(const Variate *variate, double unit)
{
	switch (variate->kind) {
	case VARIATE_CONSTANT:
		return variate->first;
	case VARIATE_CHOICE:
		return choose_point(variate, unit);
	case VARIATE_CDF:
		return interpolate(variate, unit);
	case VARIATE_UNIFORM:
		return variate->first + (variate->second - variate->first) * unit;
	case VARIATE_EXPONENTIAL:
		return variate->first * -variate_log(1 - unit);
	case VARIATE_LOGNORMAL:
		return variate->first *
		       variate_exp(variate->second * variate_normal_quantile(unit));
	case VARIATE_PARETO:
		return variate->first * variate_exp(-variate_log(1 - unit) / variate->second);
	}
	g_assert_not_reached();
}

double
variate_quantile(const Variate *variate, double unit)
{
	return CLAMP(quantile_freely(variate, unit), variate->least, variate->most);
}

/* A normal draw by itself costs less than a quantile. */
static double
draw_freely(const Variate *variate, RngStream stream, guint64 entity)
{
	if (variate->kind == VARIATE_LOGNORMAL)
		return variate->first *
		       variate_exp(variate->second * variate_unit_normal(stream, entity));
	return quantile_freely(variate, rng_unit(stream, entity, 0));
}

double
variate_draw(const Variate *variate, RngStream stream, guint64 entity)
{
	return CLAMP(draw_freely(variate, stream, entity), variate->least, variate->most);
}
