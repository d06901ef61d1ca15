/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a synthetic trace should be like, as a YAML file says it; docs/trace-format.md explains
 * each key. A spec is checked as a whole before anything is drawn.
 */

#include "traces/variate.h"

typedef enum ArrivalProcess {
	ARRIVALS_AT_ONCE,
	ARRIVALS_FIXED,
	ARRIVALS_POISSON,
	ARRIVALS_BURSTS, /* Poisson, with a rate that changes over time */
	ARRIVALS_DRAWN,  /* each app's time from one distribution */
} ArrivalProcess;

/* A rate of arrivals from a point of time on. */
typedef struct RatePiece {
	double from_s;
	double per_s;
} RatePiece;

typedef struct Arrivals {
	ArrivalProcess process;
	double per_s;    /* of ARRIVALS_FIXED and _POISSON */
	GArray *pieces;  /* of RatePiece, ascending from 0, of ARRIVALS_BURSTS */
	double period_s; /* after which the pieces begin again; 0 = the last goes on for ever */
	Variate at_h;    /* of ARRIVALS_DRAWN */
	double speedup;  /* what all times between arrivals are divided by */
} Arrivals;

typedef enum DrawnFor {
	DRAWN_FOR_JOB,
	DRAWN_FOR_APP, /* and the same for all its jobs */
} DrawnFor;

typedef struct Quantity {
	Variate variate;
	DrawnFor drawn_for;
	gboolean is_given;
	/* Of what is drawn for jobs: how alike those of an app are, as the correlation of their
	 * normal scores (a Gaussian copula), and the correlation of what they have in common with
	 * the normal score of the app's number of jobs; 0 to 1. */
	double alike, with_jobs;
} Quantity;

/* Names, of which each app gets one by weight. */
typedef struct LabelMix {
	GPtrArray *names; /* of char *; NULL = not given */
	Variate choice;   /* of an index into names */
} LabelMix;

typedef enum GeneratedLabel {
	GENERATED_USER,
	GENERATED_TENANT,
	GENERATED_GROUP,
	GENERATED_MODEL,
	GENERATED_GPU_TYPE,
	N_GENERATED_LABELS,
} GeneratedLabel;

typedef struct GenerateSpec {
	guint64 seed;
	guint32 n_apps;       /* 0 = as many as hold n_jobs */
	guint32 n_jobs;       /* 0 = as many as n_apps have */
	gboolean is_even;     /* apps divide each distribution evenly among them */
	gint64 resolution_ms; /* of all times in the trace */
	gint64 start_ms;      /* time on the trace's clock at which arrivals begin */
	Arrivals arrivals;
	Quantity jobs_per_app; /* not given: jobs without an app_id */
	Quantity job_gap_s;    /* between the submits of an app's jobs */
	Quantity num_gpus, min_gpus, max_gpus;
	Quantity length; /* in units of length_unit_s */
	double length_unit_s;
	gboolean length_is_work; /* GPU time, to be divided by num_gpus */
	LabelMix labels[N_GENERATED_LABELS];
	LabelMix tuners; /* texts of tuner_parse() */
	gboolean has_losses;
	Quantity loss_start, loss_end;
	Quantity loss_half_frac; /* of the job's duration */
	double load;             /* 0 = arrivals as they are */
	guint32 load_gpus;
} GenerateSpec;

/* SIM_ERROR_INPUT, with all that is wrong in the file. Each of @sets (NULL-terminated, or NULL),
 * "key.of.the.file=value", is put in place of what the file says; SIM_ERROR_USAGE if there is no
 * such value in it. */
GenerateSpec *generate_spec_read(const char *path, const char *const *sets, GError **error);
void generate_spec_free(GenerateSpec *spec);

/* Mean arrivals a second over all time; 0 where there is no such mean. */
double arrivals_mean_per_s(const Arrivals *arrivals);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GenerateSpec, generate_spec_free)
