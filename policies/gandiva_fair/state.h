/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gandiva_fair: its state, and what its parts ask of each other. shares.c says how many GPUs of
 * each type are whose, and what a job's tickets are; servers.c which server a job belongs to;
 * turns.c who has run for how long, and whose turn it is. The order of a decision is in
 * gandiva_fair.c.
 */

#include "sim/policy.h"

typedef enum FairBy {
	FAIR_BY_USER,
	FAIR_BY_TENANT,
	FAIR_BY_APP,
} FairBy;

typedef enum FairStride {
	FAIR_STRIDE_GANG,  /* a quantum costs GPUs / tickets */
	FAIR_STRIDE_PLAIN, /* a quantum costs 1 / tickets */
} FairStride;

typedef enum FairPrice {
	FAIR_PRICE_SECOND, /* the speed-up of the next best buyer */
	FAIR_PRICE_MIDDLE, /* halfway between those of buyer and seller */
} FairPrice;

typedef struct FairOptions {
	PlacementOptions placement;
	gint by, stride, price;
	char *tickets;
	SimTime quantum_ns;
	double balance_gap;
	gboolean trading;
} FairOptions;

/* A user (or tenant, or app) and one GPU type. All in GPUs. */
typedef struct FairStake {
	double share;  /* GPUs that are its own, trades included */
	double wanted; /* gangs of its jobs that could run there */
	double asked;  /* gangs of its jobs that belong to servers of this type */
	guint n_jobs;  /* those jobs */
	double rate;   /* sum over its jobs of gang x speed there, of those that could run there */
} FairStake;

typedef struct FairUser {
	double tickets;
	guint n_jobs, n_small;
	double wanted;     /* GPUs of all its jobs' gangs */
	double endowed;    /* its shares before any trade */
	FairStake *stakes; /* by type */
} FairUser;

#define FAIR_NOWHERE G_MAXUINT32

typedef struct FairJob {
	guint32 user;
	guint32 server;   /* machine that it belongs to; FAIR_NOWHERE: none yet, or is_wide */
	gboolean is_wide; /* fits into no single machine */
	guint64 types;    /* bit i: could run on type i */
	double tickets;
	double claim; /* GPUs that it can make use of, of its user's shares */
	double pass;  /* between two servers: how far it was ahead of the last */
	GpuTime charged_service;
	SimTime charged_ns;
	Alloc seat, kept; /* the GPUs of this quantum; a second answer while it is made up */
} FairJob;

typedef struct FairServer {
	GArray *jobs; /* of JobId, in any order */
	double pass;
	double tickets; /* sum of its jobs' */
	double claims;  /* sum of its jobs' */
	double used;    /* quanta that its jobs have had and it has not paid for */
} FairServer;

typedef struct Fair {
	FairOptions options;
	const ClusterSpec *spec;
	Cluster *empty; /* nobody is ever there */
	Cluster *room;  /* who is to have what in this quantum, as opposed to who has what now */
	GArray *users;  /* of FairUser */
	GHashTable *by_name, *given_tickets; /* name -> 1 + user; name -> double */
	FairJob *jobs;                       /* by JobId */
	FairServer *servers;                 /* by machine */
	GArray *active;                      /* of JobId, ascending */
	GArray *wide;                        /* of JobId: the active ones that are wide */
	GArray *order;                       /* of JobId: whose turn it is first */
	GArray *turns, *central;             /* of a Turn, for the making of the order */
	guint *types;                        /* by rank: those on which jobs are fastest first */
	SimTime base_ns;                     /* quanta begin at multiples of the length from here */
	gboolean is_changed;                 /* jobs have come or gone since the last decision */
	gboolean is_unsettled;               /* ... or since the last quantum */
	guint64 n_rebalanced, n_trades;
	guint n_jobs; /* of the trace */
	Alloc where;
} Fair;

static inline FairUser *
fair_user(const Fair *fair, guint user)
{
	return &g_array_index(fair->users, FairUser, user);
}

static inline double
fair_gang(const Job *job)
{
	return (double)job_held_milli(job, job->num_gpus) / GPU_MILLI;
}

static inline guint
fair_type_of(const Fair *fair, guint32 server)
{
	return fair->spec->machines[server].type;
}

static inline gboolean
fair_waits(const Fair *fair, JobId job)
{
	return fair->jobs[job].seat.n == 0;
}

/* shares.c */

/* Takes the job into the books of its user. Its types must be known. */
void fair_shares_meet(Fair *fair, const View *view, const Job *job);
void fair_shares_part(Fair *fair, const View *view, const Job *job);

/* Who owns how many GPUs of which type, trades included, and what each job can claim of it. */
void fair_shares_divide(Fair *fair, const View *view);

/* The tickets of all jobs, by where they are. */
void fair_shares_issue(Fair *fair);

/* The type on which the job's user has a use for it, leaving the job itself out of account; on
 * return @ret_gain is by how much that is less crowded than where it is. */
guint fair_shares_pick_type(const Fair *fair, const View *view, const Job *job, double *ret_gain);

/* servers.c */

/* GPUs for the job on that machine, those of last time if they are free there. */
gboolean fair_server_find(const Fair *fair, const Cluster *cluster, const View *view,
                          const Job *job, guint32 server, Alloc *ret_where);

/* Fills in is_wide and types. */
void fair_servers_judge(Fair *fair, const View *view, const Job *job);
void fair_servers_leave(Fair *fair, const Job *job);

/* Gives those a server that have none. */
void fair_servers_admit(Fair *fair, const View *view);

/* Sums up the claims anew. */
void fair_servers_weigh(Fair *fair);

/* Moves jobs to the types where their users have a use for them, and from the fullest servers to
 * the emptiest; who runs moves at the begin of a quantum alone. */
void fair_servers_balance(Fair *fair, const View *view, gboolean is_due);

/* turns.c */

/* An array for Fair.turns. */
GArray *fair_turns_new(void);

/* What the job's pass starts from on its server, or among the wide ones. */
double fair_turns_least(const Fair *fair, guint32 server);
double fair_turns_least_central(const Fair *fair);

/* What has been used since the last time is paid for. */
void fair_turns_charge_job(Fair *fair, const View *view, JobId job);
void fair_turns_charge(Fair *fair, const View *view);

/* Nobody is owed more than it could have used. */
void fair_turns_forgive(Fair *fair, const View *view);

/* Fair.order anew. */
void fair_turns_sort(Fair *fair);
