/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Random numbers of a given distribution, from counter-based draws: a value is a pure function of
 * (stream, entity), and the same to the last bit on every host, as logarithms and powers are
 * computed here from operations that IEEE 754 rounds exactly.
 */

#include "sim/base/rng.h"

typedef enum VariateKind {
	VARIATE_CONSTANT,    /* first */
	VARIATE_CHOICE,      /* one of the points, by weight */
	VARIATE_CDF,         /* between the points, linearly */
	VARIATE_UNIFORM,     /* from first to second */
	VARIATE_EXPONENTIAL, /* first: the mean */
	VARIATE_LOGNORMAL,   /* first: the median; second: sigma of the logarithm */
	VARIATE_PARETO,      /* first: the least value; second: the shape */
} VariateKind;

typedef struct VariatePoint {
	double value;
	double up_to; /* the part of the draws that is below or at it, 1 at the last point */
} VariatePoint;

typedef struct Variate {
	VariateKind kind;
	double first, second;
	double least, most; /* a draw beyond is taken as this */
	GArray *points;     /* of VariatePoint, of VARIATE_CHOICE and _CDF; else NULL */
} Variate;

/* A constant without bounds. */
Variate variate_constant(double value);
void variate_clear(Variate *variate);

/* Multiplies all that it draws, and its bounds, by @factor. */
void variate_scale(Variate *variate, double factor);

double variate_draw(const Variate *variate, RngStream stream, guint64 entity);

/* The value that the part @unit of all draws lies below; @unit in [0, 1). */
double variate_quantile(const Variate *variate, double unit);

/* The standard normal distribution: the part below @z, to about 10^-15, and its inverse. */
double variate_normal_cdf(double z);
double variate_normal_quantile(double unit);

/* Exponential with mean 1. */
double variate_unit_exponential(RngStream stream, guint64 entity);

/* Normal with mean 0 and sigma 1. */
double variate_unit_normal(RngStream stream, guint64 entity);

/* ln(@x) for x > 0, and e^@x. */
double variate_log(double x);
double variate_exp(double x);
