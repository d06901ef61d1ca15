/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Who searches among the jobs of an app (its trials) for the best model, and stops the others
 * early. The tuner belongs to the workload: every policy faces the same one.
 *
 *   none                all jobs run to their ends
 *   successive-halving  all trials work to the end of a phase and pause; when the last is there,
 *                       the best 1/eta go on (Jamieson and Talwalkar, AISTATS'16)
 *   hyperband           several such brackets beside each other, each with one phase less than
 *                       the one before it (Li et al., JMLR 18, 2018)
 *   asha                a trial goes on at once if it is among the best 1/eta of those that have
 *                       come as far, else it pauses; later results may bring it back (Li et al.,
 *                       MLSys'20)
 *   hyperdrive          a trial is stopped when even the good end of its forecast misses the
 *                       target (Rasley et al., Middleware'17)
 *
 * A trial's training is cut into phases, whatever the tuner: at the end of each the tuner looks at
 * its loss. For hyperdrive a phase lies between two looks. A Tuner is a set of rules without
 * state; what became of whom is the run's (engine/tuning.h).
 */

#include "sim/base/options.h"
#include "sim/model/job.h"

typedef enum TunerKind {
	TUNER_NONE,
	TUNER_SUCCESSIVE_HALVING,
	TUNER_HYPERBAND,
	TUNER_HYPERDRIVE,
	TUNER_ASHA,
} TunerKind;

/* More halvings than this nobody needs: 2^32 trials. */
#define TUNER_MAX_PHASES 32

typedef struct Tuner {
	TunerKind kind;
	gint64 eta;        /* of n trials of a phase floor(n / eta) go on, at least one */
	gint64 n_phases;   /* 0 = floor(log_eta n) + 1 */
	OptionList work;   /* weights of the phases; empty = each up to eta times the one before */
	gboolean widens;   /* a moldable trial may use eta times the GPUs in each phase */
	gint64 n_brackets; /* 0 = as many as there are phases */
	double check_frac; /* hyperdrive looks at each multiple of this part of the training */
	double error;      /* a forecast at its beginning may be off by this part */
	double keep;       /* this part of the trials meets the target */
	char *text;        /* canonical: reads back as the same */
} Tuner;

/* `NAME` or `NAME:key=value[,key=value...]`, as a policy on the command line. SIM_ERROR_INPUT. */
Tuner *tuner_parse(const char *text, GError **error);
void tuner_free(Tuner *tuner);

/* Whether it looks at losses at all: then each of its trials needs a curve. */
gboolean tuner_compares(const Tuner *tuner);

/* How many phases and brackets the search among @n_trials has. */
guint tuner_n_phases(const Tuner *tuner, guint n_trials);
guint tuner_n_brackets(const Tuner *tuner, guint n_phases);

/* The bracket of trial @index of @n_trials (in trace order): dealt in proportion to Hyperband's
 * n_s = ceil(S / (s + 1) x eta^s), S brackets in all, the one with most trials first. */
guint tuner_bracket(const Tuner *tuner, guint n_phases, guint n_trials, guint index);

/* The phases of one bracket: each bracket starts one phase later. */
guint tuner_n_bracket_phases(const Tuner *tuner, guint n_phases, guint bracket);

/* The work of a training of @duration_ns at which @phase (counted from 0 in its bracket) is over;
 * the whole for the last. */
SimWork tuner_goal_ns(const Tuner *tuner, guint n_phases, guint bracket, guint phase,
                      SimWork duration_ns);

/* How many of @n trials go on. */
guint tuner_n_survivors(const Tuner *tuner, guint n);

/* The most GPUs @job can use in @phase. */
guint32 tuner_max_gpus(const Tuner *tuner, const Job *job, guint phase);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tuner, tuner_free)
