/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inside the greedy machine. A round goes through three files: parties.c knows who is here and
 * wants what, stock.c where GPUs are open, grants.c gives them out.
 */

#include "sim/policy.h"

#define GPU_NONE G_MAXUINT32

typedef enum Footing {
	FOOTING_NONE, /* not here, paused, or done */
	FOOTING_HERE,
	FOOTING_LEAVING, /* stopped; holds its GPUs until its suspend_s is over (A10) */
} Footing;

typedef struct GreedyJob {
	guint32 party;
	guint8 footing;      /* Footing */
	gboolean is_due;     /* has handed in GPUs in this decision */
	gboolean is_won;     /* has been given GPUs in this round */
	guint32 n_kept;      /* GPUs it holds by leases that go on */
	guint32 misfit;      /* the round in which no place was found for it */
	SimWork waiting_ns;  /* its work, as counted while it waits */
	GpuTime precedence;  /* in its party's line: the more the earlier */
	gint64 rate_ppb;     /* of gpus, if the rules need rates */
	SimTime lost_ns;     /* when it last gave up all it held; -1 if never */
	SimTime since_ns;    /* from when on its iterations are counted, */
	gint64 iterates_ppb; /* at this rate */
	/* What it holds; during a round what it is to hold, as the offer's cluster has it. */
	Alloc gpus;
} GreedyJob;

typedef struct Party {
	guint32 present_at; /* 1 + its place in Greedy.present, or 0 */
	guint32 n_due;
	guint32 n_here;
	GArray *waiting;      /* of JobId, in the order they are served: here, and hold nothing */
	GArray *holding;      /* of JobId, ascending: have GPUs */
	GpuTime past_service; /* of its jobs that hold nothing */
	GpuTime waiting_work;
	SimWork longest_waiting_ns; /* -1: to be found anew */
	GreedyHolding holds;
} Party;

struct Greedy {
	const GreedyRules *rules;
	GreedyOptions options;
	const void *self;
	const ClusterSpec *spec;
	guint n_jobs, n_parties;
	GreedyJob *jobs; /* by JobId */
	Party *parties;  /* by number: the rank of the party's first job */
	GArray *present; /* of guint32: parties with jobs here, in no order */
	GArray *stopped; /* of JobId: stopped by the last decisions, and not looked at since */
	gboolean has_arrivals; /* since the last decision */
	guint n_sharers;       /* waiting jobs that ask for a part of a GPU */

	/* the offer */
	Cluster *open;    /* the cluster as it would be: what is free here is on offer */
	JobId *former;    /* by GPU: who has handed it in; JOB_NONE */
	GArray *returned; /* of guint32: GPUs that have a former */
	GArray *touched;  /* of JobId: have handed in GPUs or won some, each once */
	guint32 version;  /* of the offer: rises when something is taken */
	guint32 round;
	Alloc *known;           /* by number of GPUs: the best place for so many */
	guint32 *known_version; /* of the offer that it is good for */
	Alloc scratch, where, base;

	GArray *bids;  /* of RoundBid, in grants.c */
	GArray *seats; /* of Seat, in seats.c; their memory is kept */
	guint n_seats;
	Leases *leases;       /* NULL if GPUs are kept */
	SimTime *full_end_ns; /* by GPU: when its lease would end but for iterations */
	Moves *moves;
	GArray *due; /* of JobId */
	SimTime wake_ns;
};

/* parties.c */

void parties_open(Greedy *greedy, const View *view);
void parties_close(Greedy *greedy);
void parties_arrived(Greedy *greedy, const View *view, const Job *job);
void parties_completed(Greedy *greedy, const View *view, const Job *job);

/* Looks again at the jobs that were stopped: what they hold, and what work they have lost. */
void parties_settle(Greedy *greedy, const View *view);

/* @job, who waits, is one of those whose leases have ended no more. */
void parties_requeue(Greedy *greedy, const View *view, const Job *job);

/* @job holds @gpus from now on, in the parties' books and in the offer's cluster. */
void parties_set(Greedy *greedy, const View *view, const Job *job, const Alloc *gpus);

static inline Party *
party_of(const Greedy *greedy, JobId job)
{
	return &greedy->parties[greedy->jobs[job].party];
}

/* stock.c */

void stock_open(Greedy *greedy);
void stock_close(Greedy *greedy);
void stock_touch(Greedy *greedy, JobId job);

/* After a decision: nothing is handed in any more. */
void stock_empty(Greedy *greedy, const View *view);

/* Where the next grant of @job would be, beside what it holds, and on @gpu unless that is GPU_NONE:
 * all that it would hold then; NULL if there is no room. Good until the next call. */
const Alloc *stock_find(Greedy *greedy, const View *view, const Job *job, guint32 gpu);

/* Whether @job could be given @n_gpus for all that numbers say. */
gboolean stock_may_fit(const Greedy *greedy, const Job *job, guint n_gpus);

gint64 stock_rate_ppb(const View *view, const Job *job, const Alloc *gpus);

/* What is given out is known: @job gets @gpus, which the offer's cluster has for it already. */
void parties_seat(Greedy *greedy, const View *view, const Job *job, const Alloc *gpus);

/* grants.c */

void grants_open(Greedy *greedy);
void grants_close(Greedy *greedy);
void grants_hold(Greedy *greedy, const View *view);

/* seats.c */

void seats_open(Greedy *greedy);
void seats_close(Greedy *greedy);

/* How much everybody is given is known: jobs that keep nothing are seated anew, all together: their
 * own GPUs of before first (A76), if there is nothing better, then the widest gangs. */
void seats_run(Greedy *greedy, const View *view);

/* iterations.c */

/* When the next iteration of a job that holds GPUs begins, later than @now_ns unless that is when
 * it can first work. */
SimTime iterations_next_ns(const Greedy *greedy, const Job *job, SimTime now_ns);

/* Whether an iteration of @job is in progress, or has just begun on what it keeps. */
gboolean iterations_go_on(const Greedy *greedy, const View *view, JobId job);

/* Work left and done with the iteration in progress in full. */
SimWork iterations_left_ns(const Job *job, SimWork left_ns);
SimWork iterations_begun_ns(const Job *job, SimWork done_ns);

/* After the edits: from when on those of @job are counted, if its GPUs have changed hands. */
void iterations_book(Greedy *greedy, const View *view, const Job *job);
