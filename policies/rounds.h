/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rounds: at every multiple of a length it is decided anew who runs. The policy goes through the
 * jobs in the order of their claims and takes what it can for each (rounds_take()); at the start of
 * a round all GPUs are to be had, and whoever runs and is not taken stops; in between, those that
 * are free. Within a round who stays on a GPU type keeps its GPUs, then big gangs are placed first,
 * on the GPUs they had if those are free. Without a length there are no rounds: nobody is stopped.
 *
 * Rounds begin anew when a job comes and nobody runs. Policies get this through sim/policy.h.
 */

#include "policies/placement.h"

#define ROUNDS_ANY_TYPE G_MAXUINT

typedef struct Rounds Rounds;

/* Hands out: calls rounds_take() for jobs in the order of their claims. */
typedef void (*RoundsServe)(void *self, const View *view, Plan *plan);

typedef struct RoundsRules {
	SimTime length_ns; /* TIME_NEVER: no rounds */
	gboolean waits;    /* GPUs that fall idle in a round wait for the next */
	RoundsServe serve;
} RoundsRules;

/* @placement must outlive the rounds; @self is handed to serve(). */
Rounds *rounds_new(const View *view, const RoundsRules *rules, const PlacementOptions *placement,
                   void *self);
void rounds_free(Rounds *rounds);

/* B05: a round must leave time to work. @name is that of the option. */
gboolean rounds_check_length(const View *view, const char *name, SimTime length_ns, GError **error);

/* A job that was here may come again. */
void rounds_arrived(Rounds *rounds, const Job *job);
void rounds_completed(Rounds *rounds, const Job *job);

/* The jobs here, of JobId, ascending. */
const GArray *rounds_active(const Rounds *rounds);

/* Whether a new round begins at this decision. */
gboolean rounds_is_due(const Rounds *rounds, const View *view);

/* The whole of a decision. */
void rounds_decide(Rounds *rounds, const View *view, Plan *plan);

/* Thousandths of GPUs that are still to be had, by number alone. */
guint64 rounds_left_milli(const Rounds *rounds, const View *view);

/* GPUs that @job has in the round being handed out, or in between holds or is about to. */
guint rounds_held(const Rounds *rounds, const View *view, JobId job);

/* num_gpus GPUs of @type for @job, which holds none; FALSE if that is more than there are. At the
 * start of a round this goes by number alone, and the job may yet find that they are scattered. */
gboolean rounds_take(Rounds *rounds, const View *view, Plan *plan, const Job *job, guint type);
