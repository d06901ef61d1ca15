/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a set of positive numbers comes to: quantiles, and how equal they are (policies.md 6.3).
 * Sums are in ascending order of the values, and so do not depend on where these came from.
 */

#include <glib.h>

#define OVER_1   (1 + 1e-9)   /* SEMANTICS A24 */
#define OVER_1_1 (1.1 + 1e-9) /* where Shockwave's figures begin to count */

typedef struct Distribution {
	gsize n; /* 0: nothing else is defined */
	double mean, min, p5, p50, p90, p95, p99, max;
	gsize over_1, over_1_1;            /* how many are */
	double excess_mean;                /* of max(0, x - 1), over all */
	double jain, gini;                 /* 1 = all equal, down to 1/n; 0 = all equal, below 1 */
	double jain_inverse, gini_inverse; /* of 1 / x */
} Distribution;

Distribution distribution_of(const double *sorted, gsize n);
