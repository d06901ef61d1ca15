/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The apps as Themis knows them, each an agent that speaks for its jobs: which of them wait, which
 * run and how fast, and so how badly off the app is. With unit=job an agent speaks for one job, as
 * if that were an app.
 */

#include "policies/themis/forecast.h"
#include "policies/themis/options.h"

typedef enum Footing {
	FOOTING_NONE, /* not here, or done */
	FOOTING_QUEUED,
	FOOTING_RUNNING,
	FOOTING_LEAVING, /* stopped, holds its GPUs until its suspend_s is over */
} Footing;

typedef struct AgentJob {
	guint8 footing;                        /* Footing */
	gboolean has_guests;                   /* holds part of a GPU, beside others */
	guint32 min_gpus, max_gpus, step_gpus; /* widths: min, min + step, ..., max */
	gint64 rate_ppb;  /* GPUs at full speed that what it holds amounts to */
	gint64 best_ppb;  /* the same number of GPUs at the best place there is */
	SimTime since_ns; /* when its GPUs last changed */
	SimTime left_ns;  /* when it last lost what it held */
	Alloc gpus;       /* held */
} AgentJob;

typedef struct Agent {
	AgentId id;
	SimTime submit_ns;
	gboolean is_known;
	gboolean is_tuned;      /* of an app with a tuner: work and widths may grow unseen */
	gboolean is_picky;      /* some job of it asks for more than a number of GPUs */
	gboolean is_miscounted; /* waiting_work is to be counted again */
	gboolean has_returned;  /* some lease of it has just ended */
	guint32 wanting_at;     /* 1 + its place in Agents.wanting, or 0 */
	guint32 n_growing;      /* running jobs that could use more GPUs */
	guint32 least_queued;   /* GPUs of its least demanding queued job; G_MAXUINT32 if unknown */
	GArray *queued;         /* of JobId, ascending */
	GArray *running;        /* of JobId */
	GpuTime waiting_work;   /* of its jobs that do not run, those to come included */
	gint64 left_ppb;        /* rate of the jobs that lost their GPUs at left_ns */
	SimTime left_ns;
	double error, slowdown_error; /* of its estimates, -bid_error to bid_error */
	Forecast forecast;            /* as of agent_foresee() */
	GpuTime crowd_at_submit;      /* Crowd.sum_ns then */
	double last_rho;              /* when it last held something, at last_rho_ns */
	SimTime last_rho_ns;          /* TIME_NEVER: it never did */
	SimTime ranked_ns;            /* the instant for which it was last ranked */
	gint64 standing, rank;        /* see Contender */
	SimTime passed_ns;            /* the instant at which it last bid for nothing */
} Agent;

/* How many agents there are, for the mean over the life of each (unit=job; of apps the view
 * knows). */
typedef struct Crowd {
	guint n;
	SimTime since_ns;
	GpuTime sum_ns; /* of n, over the time up to since_ns */
} Crowd;

typedef struct Agents {
	const ThemisOptions *options;
	Agent *agents;  /* by AgentId */
	AgentJob *jobs; /* by JobId */
	guint n_agents, n_jobs;
	Crowd crowd;
	GArray *wanting;   /* of AgentId, in no order: could use more GPUs */
	GArray *leaving;   /* of JobId */
	GArray *tuned;     /* of AgentId */
	GArray *returning; /* of AgentId: those that have returned something, each once */
} Agents;

Agents *agents_new(const View *view, const ThemisOptions *options);
void agents_free(Agents *agents);

static inline AgentJob *
agents_job(const Agents *agents, JobId job)
{
	return &agents->jobs[job];
}

static inline AgentId
agents_id(const Agents *agents, const Job *job)
{
	return agents->options->unit == UNIT_JOB ? job->id : job->app;
}

static inline Agent *
agents_of(const Agents *agents, const Job *job)
{
	return &agents->agents[agents_id(agents, job)];
}

void agents_arrived(Agents *agents, const View *view, const Job *job);
void agents_completed(Agents *agents, const View *view, const Job *job);

/* What this plan has done: the job runs on @gpus at @rate_ppb; or is stopped. */
void agents_placed(Agents *agents, const View *view, const Job *job, const Alloc *gpus);
void agents_stopped(Agents *agents, const View *view, const Job *job);

/* Stopped jobs whose GPUs have been released join the queue. */
void agents_settle_leaving(Agents *agents, const View *view);

/* Running jobs whose tuners let them have more GPUs by now can grow. */
void agents_settle_widths(Agents *agents, const View *view);

/* Some lease of one of its jobs has ended; until agents_forget_returned(). */
void agents_returned(Agents *agents, const Job *job);
void agents_forget_returned(Agents *agents);

/* Whether @job could use more GPUs than it holds. */
gboolean agents_job_can_grow(const Agents *agents, JobId job);

/* GPUs of its least demanding grant, of those that a queued or growing job could use next;
 * G_MAXUINT32 if there is none. */
guint32 agent_least_grant(Agents *agents, const View *view, Agent *agent);

/* Sets the agent's forecast to what its jobs have left now, as it estimates them. */
void agent_foresee(Agents *agents, const View *view, Agent *agent);

/* T_id as of now (A23, A68), in nanoseconds; 0 without work. */
double agent_ideal_ns(const Agents *agents, const View *view, const Agent *agent);

/* d: the GPUs that it could use at once, of parts of a GPU the parts. */
double agent_demand_gpus(const Agents *agents, const View *view, const Agent *agent);

/* n(t): how many agents there are now. */
guint agents_n_present(const Agents *agents, const View *view);

double agent_elapsed_ns(const View *view, const Agent *agent);

/* Rate of what it held up to this instant, in parts per billion of a GPU; 0 if nothing. */
gint64 agent_rate_until_now_ppb(const Agents *agents, const View *view, const Agent *agent);
