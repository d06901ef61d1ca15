/* SPDX-License-Identifier: MIT */
#pragma once

#include "sim/policy.h"

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
} Leftover;

typedef enum IdealTime {
	IDEAL_PAPER,
	IDEAL_CAPPED,
} IdealTime;

typedef enum Bundles {
	BUNDLES_EXACT,
	BUNDLES_GREEDY,
} Bundles;

typedef enum Bidders {
	BIDDERS_PART,     /* the part 1 - f that is worst off */
	BIDDERS_SERVABLE, /* of them, as many as the offer can serve */
} Bidders;

typedef enum Trigger {
	TRIGGER_FREE,     /* a round whenever GPUs are idle */
	TRIGGER_PERIODIC, /* at multiples of lease_s since the first submit */
} Trigger;

typedef enum ThemisPreset {
	PRESET_NONE,
	PRESET_PAPER,
} ThemisPreset;

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
	gint max_level; /* PlacementLevel */
	gint bidders;   /* Bidders */
	gint trigger;   /* Trigger */
	gint preset;    /* ThemisPreset */
} ThemisOptions;
