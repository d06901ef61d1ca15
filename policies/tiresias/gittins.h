/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The Gittins index of a job that has had a service of a, when services are drawn from a known set
 * of samples: the best ratio of the chance that it ends within some further service to the service
 * spent on finding out,
 *
 *	G(a) = max over d of P(S - a <= d | S > a) / E(min(S - a, d) | S > a),
 *
 * reached at some d that ends at a sample (Gu et al., Tiresias, NSDI'19, section 3.3; Gittins
 *1979).
 */

#include "sim/policy.h"

typedef enum GittinsKind {
	GITTINS_OFF,
	GITTINS_TEXTBOOK,
	GITTINS_FIXED_DELTA,  /* one d for all a */
	GITTINS_TIRESIAS_SIM, /* as the public Tiresias simulator has it: for comparison only */
} GittinsKind;

typedef struct Gittins Gittins;

/* @samples ascend; they are copied, in any unit that @delta and the services have too. @kind is
 * not GITTINS_OFF. @delta is for the kinds that have a fixed one. */
Gittins *gittins_new(GittinsKind kind, const GpuTime *samples, guint n, GpuTime delta);
void gittins_free(Gittins *gittins);

/* Per unit; 0 beyond the last sample (B20). @hint is any number at first: who asks again for a job
 * that has attained a little more is answered sooner. */
double gittins_index(const Gittins *gittins, GpuTime attained, guint *hint);
