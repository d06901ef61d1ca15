/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a run is asked to do: RUN.yaml (DESIGN 6.3), then --set, then the options of the command
 * line, each winning over the one before (A38). All three go through the same keys and the same
 * checks; what differs is where relative paths start and the exit status of a mistake (B10).
 */

#include "sim/cli/policy_spec.h"
#include "sim/model/overhead.h"

/* A text of the configuration and where it stood. */
typedef struct Setting {
	char *given; /* as the user wrote it; NULL = not given */
	char *path;  /* of those that are paths: as seen from the working directory */
	int code;    /* exit status of a mistake in it: SIM_ERROR_INPUT in a file, else USAGE */
} Setting;

typedef struct RunConfig {
	Setting run_file;
	Setting cluster; /* a path or a shorthand */
	Setting trace;
	Setting format; /* not given = "auto" */
	Setting models; /* not given = every job has speed 1 (A86) */
	Setting time_zone;
	Setting out;         /* not given = nothing is written */
	GPtrArray *policies; /* of PolicySpec */
	GPtrArray *notices;  /* of char *: what was understood in a certain way */
	guint64 seed;
	/* Times not given are TIME_NEVER here: a policy's preset may fill them in. */
	Overheads overheads;
	SimTime window_from_ns;
	SimTime window_to_ns;      /* TIME_NEVER = no bound */
	SimTime stop_ns;           /* TIME_NEVER = run to the end */
	SimTime timeline_every_ns; /* 0 = a row an instant */
	gint64 n_threads;          /* 0 = as many as there are cores */
	gboolean wants_segments, wants_timeline, wants_stream;
	gboolean wants_perfetto, wants_batsim;
	gboolean skips_bad_rows, allows_rejected, allows_unfinished;
	gboolean is_strict, is_paranoid, is_quiet;
} RunConfig;

RunConfig *run_config_new(void);
void run_config_free(RunConfig *config);

/* Each of these adds to what is there. SIM_ERROR_INPUT, with every problem of the file. */
gboolean run_config_read(RunConfig *config, const char *path, GError **error);

/* `KEY=VALUE`, a dotted path and YAML; SIM_ERROR_USAGE. */
gboolean run_config_set(RunConfig *config, const char *assignment, GError **error);

/* A text from the command line. */
void setting_set(Setting *setting, const char *given);

/* The value of a command line's @option, which stands for @key. */
gboolean run_config_set_number(RunConfig *config, const char *option, const char *key,
                               const char *text, GError **error);

/* Raises every flag that is raised in @raised. */
void run_config_raise_flags(RunConfig *config, const RunConfig *raised);

/* `--policy` as given, which replaces the list. */
gboolean run_config_set_policies(RunConfig *config, const char *const *texts, GError **error);

/* Whether all is there that a run needs, and fits together. */
gboolean run_config_check(const RunConfig *config, GError **error);

/* The run's overheads under @spec: what was given, else the policy's preset, else 0. */
Overheads run_config_overheads(const RunConfig *config, const PolicySpec *spec);

/* The effective options as dotted keys and YAML values (of char *), in a fixed order (A53): nothing
 * that depends on where a run writes, or on how many threads. @format is the reader that took the
 * trace. */
void run_config_describe(const RunConfig *config, const char *format, GPtrArray *keys,
                         GPtrArray *values);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunConfig, run_config_free)
