/* SPDX-License-Identifier: MIT */
#pragma once

#include "sim/policy.h"

/* What is fair to whom: an AppId, or, with unit=job, a JobId. Both are ranks by (submit, trace
 * order). */
typedef guint32 AgentId;

typedef enum UnitOfFairness {
	UNIT_APP,
	UNIT_JOB, /* every job is an app of its own */
} UnitOfFairness;

typedef enum Valuation {
	VALUATION_RHO,   /* 1 / rho */
	VALUATION_SPEED, /* GPUs x speed of each, those kept included */
} Valuation;

typedef enum RhoOfNothing {
	RHO_OF_NOTHING_LEASE, /* lose a lease, then run at the fair share (A69) */
	RHO_OF_NOTHING_CAP,   /* as good as unbounded */
} RhoOfNothing;

typedef enum Rounding {
	ROUNDING_LOTTERY,
	ROUNDING_FLOOR,
	ROUNDING_NEAREST,
	ROUNDING_NONE, /* nobody pays */
} Rounding;

typedef enum Leftover {
	LEFTOVER_RANDOM,
	LEFTOVER_WORST_RHO,
	LEFTOVER_IDLE,
	LEFTOVER_AUCTION, /* rounds are repeated until nobody takes anything */
} Leftover;

typedef enum IdealTime {
	IDEAL_PAPER,
	IDEAL_CAPPED,
	IDEAL_ALONE,
} IdealTime;

typedef enum RankOfIdle {
	RANK_OF_IDLE_ELAPSED,  /* before all others, by elapsed / T_id (A67) */
	RANK_OF_IDLE_LAST_RHO, /* by its last rho, growing with the minutes since */
} RankOfIdle;

typedef enum Ties {
	TIES_SUBMIT,
	TIES_RANDOM,
} Ties;

typedef enum JobOrder {
	JOB_ORDER_TRACE,
	JOB_ORDER_LONGEST, /* most work left first */
} JobOrder;

typedef enum TiedDeals {
	TIED_DEALS_MOST,   /* most GPUs to the first bidder, then to the next (A72) */
	TIED_DEALS_FEWEST, /* the fewest, but not none */
} TiedDeals;

typedef enum Places {
	PLACES_ANY,
	PLACES_BEST, /* of each number of GPUs, only where it would be fastest now */
} Places;

typedef enum Bundles {
	BUNDLES_EXACT,
	BUNDLES_GREEDY,
} Bundles;

typedef enum Bidders {
	BIDDERS_PART,      /* the part 1 - f that is worst off, rounded up */
	BIDDERS_PART_DOWN, /* rounded down */
	BIDDERS_SERVABLE,  /* of them, as many as the offer can serve */
} Bidders;

typedef enum LeaseEnd {
	LEASE_END_EXACT,
	LEASE_END_ITERATION, /* with the last iteration that is over by then */
} LeaseEnd;

typedef enum Trigger {
	TRIGGER_FREE,     /* a round whenever GPUs are idle */
	TRIGGER_PERIODIC, /* at multiples of lease_s since the first submit */
} Trigger;

typedef enum ThemisPreset {
	PRESET_NONE,
	PRESET_PAPER,
	PRESET_AUTHORS,
} ThemisPreset;

#define LIAR_NONE "none"

typedef struct ThemisOptions {
	double fairness_knob;
	SimTime lease_ns;
	gint rho0;     /* RhoOfNothing */
	gint round;    /* Rounding */
	gint leftover; /* Leftover */
	gint tid;      /* IdealTime */
	gboolean renew_free;
	gint64 gang;
	gint bundle; /* Bundles */
	gint64 node_cap;
	gboolean bid_restart;
	double bid_error;
	char *liar; /* an app's name, or LIAR_NONE; the options' */
	double lie;
	gint max_level;  /* PlacementLevel */
	gint bidders;    /* Bidders */
	gint trigger;    /* Trigger */
	gint unit;       /* UnitOfFairness */
	gint lease_end;  /* LeaseEnd */
	gint value;      /* Valuation */
	gint rank_idle;  /* RankOfIdle */
	gint ties;       /* Ties */
	gint jobs;       /* JobOrder */
	gint tied_deals; /* TiedDeals */
	gint places;     /* Places */
	gint preset;     /* ThemisPreset */
} ThemisOptions;
