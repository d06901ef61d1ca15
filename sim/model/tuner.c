/* SPDX-License-Identifier: MIT */
#include "sim/model/tuner.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

#define BILLION G_GINT64_CONSTANT(1000000000)

/* The text */

#define MAX_ETA 1000

#define OPTION_ETA(standard)                                                   \
	{                                                                      \
		"eta", OPTION_INT, offsetof(Tuner, eta), standard, 2, MAX_ETA, \
		    .help = "one of so many trials goes on"                    \
	}
#define OPTION_PHASES                                                                      \
	{                                                                                  \
		"phases", OPTION_INT, offsetof(Tuner, n_phases), "0", 0, TUNER_MAX_PHASES, \
		    .help = "0: as many as it takes to get down to one trial"              \
	}
#define OPTION_WORK                                                                            \
	{                                                                                      \
		"work", OPTION_NUMBER_LIST, offsetof(Tuner, work), "[]",                       \
		    .help = "work of the phases, in any unit; []: each ends at eta times the " \
		            "work before"                                                      \
	}
#define OPTION_WIDEN                                                                            \
	{                                                                                       \
		"widen", OPTION_BOOL, offsetof(Tuner, widens), "true",                          \
		    .help =                                                                     \
		        "the cap of a moldable trial is num_gpus x eta^phase, at most max_gpus" \
	}

static const Option no_options[] = { { 0 } };

static const Option halving_options[] = {
	OPTION_ETA("2"), OPTION_PHASES, OPTION_WORK, OPTION_WIDEN, { 0 },
};

static const Option hyperband_options[] = {
	OPTION_ETA("2"),
	OPTION_PHASES,
	OPTION_WORK,
	OPTION_WIDEN,
	{ "brackets", OPTION_INT, offsetof(Tuner, n_brackets), "0", 0, TUNER_MAX_PHASES,
	  .help = "0: as many as phases" },
	{ 0 },
};

static const Option asha_options[] = {
	OPTION_ETA("4"), OPTION_PHASES, OPTION_WORK, OPTION_WIDEN, { 0 },
};

static const Option hyperdrive_options[] = {
	{ "check_frac", OPTION_NUMBER, offsetof(Tuner, check_frac), "0.1", 0.001, 1,
	  .help = "part of its training between two looks at a trial" },
	{ "error", OPTION_NUMBER, offsetof(Tuner, error), "0.2", 0, 1,
	  .help = "error bar of a forecast at the very beginning; it narrows to 0" },
	{ "keep", OPTION_NUMBER, offsetof(Tuner, keep), "0.1", 0, 1,
	  .help = "the best part of the trials, whose final loss is the target" },
	{ 0 },
};

static const struct {
	const char *name;
	const Option *options;
} kinds[] = {
	[TUNER_NONE] = { "none", no_options },
	[TUNER_SUCCESSIVE_HALVING] = { "successive-halving", halving_options },
	[TUNER_HYPERBAND] = { "hyperband", hyperband_options },
	[TUNER_HYPERDRIVE] = { "hyperdrive", hyperdrive_options },
	[TUNER_ASHA] = { "asha", asha_options },
};

static gboolean
find_kind(const char *name, TunerKind *ret_kind, GError **error)
{
	const char *names[G_N_ELEMENTS(kinds) + 1] = { NULL };
	g_autofree char *all = NULL;
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
		names[i] = kinds[i].name;
		if (!g_str_equal(name, names[i]))
			continue;
		*ret_kind = (TunerKind)i;
		return TRUE;
	}
	nearest = text_nearest(name, names);
	all = g_strjoinv(", ", (char **)(gpointer)names);
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
	            "found the unknown tuner \"%s\", wanted %s%s", name,
	            nearest ? "perhaps " : "one of: ", nearest ? nearest : all);
	return FALSE;
}

static gboolean
set_items(const Option *table, Tuner *tuner, const char *text, GError **error)
{
	g_auto(GStrv) pairs = options_split(text, SIM_ERROR_INPUT, error);

	if (!pairs)
		return FALSE;
	for (char **pair = pairs; *pair; pair += 2)
		if (!options_set(table, tuner, pair[0], pair[1], SIM_ERROR_INPUT, error))
			return FALSE;
	return TRUE;
}

/* What the options say together. A list of weights says how many phases there are. */
static gboolean
check(Tuner *tuner, GError **error)
{
	guint n_weights = tuner->work.n;
	__int128 total = 0;

	if (n_weights > TUNER_MAX_PHASES ||
	    (n_weights > 0 && tuner->n_phases > 0 && tuner->n_phases != n_weights)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
		            "found %u numbers for work, wanted as many as phases and at most %d",
		            n_weights, TUNER_MAX_PHASES);
		return FALSE;
	}
	for (guint i = 0; i < n_weights; i++)
		total += tuner->work.values[i];
	if (total > G_MAXINT64) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
		            "found numbers for work beyond all measure, wanted a sum of at most %g",
		            (double)G_MAXINT64 / (double)BILLION);
		return FALSE;
	}
	return TRUE;
}

static char *
canonical_text(const Tuner *tuner)
{
	g_autofree char *options = options_to_string(kinds[tuner->kind].options, tuner);

	if (options[0] == '\0')
		return g_strdup(kinds[tuner->kind].name);
	return g_strdup_printf("%s:%s", kinds[tuner->kind].name, options);
}

Tuner *
tuner_parse(const char *text, GError **error)
{
	const char *colon = strchr(text, ':');
	g_autofree char *name = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);
	g_autoptr(Tuner) tuner = NULL;
	TunerKind kind;

	if (!find_kind(name, &kind, error))
		return NULL;
	tuner = options_new(kinds[kind].options, sizeof(Tuner));
	tuner->kind = kind;
	if (colon && !set_items(kinds[kind].options, tuner, colon + 1, error))
		return NULL;
	if (!check(tuner, error))
		return NULL;
	tuner->text = canonical_text(tuner);
	return g_steal_pointer(&tuner);
}

void
tuner_free(Tuner *tuner)
{
	if (!tuner)
		return;
	g_free(tuner->text);
	options_free(kinds[tuner->kind].options, tuner);
}

/* The rules */

gboolean
tuner_compares(const Tuner *tuner)
{
	return tuner->kind != TUNER_NONE;
}

static gint64
check_ppb(const Tuner *tuner)
{
	return (gint64)(tuner->check_frac * (double)BILLION + 0.5);
}

guint
tuner_n_phases(const Tuner *tuner, guint n_trials)
{
	guint n = 1;

	if (tuner->kind == TUNER_NONE)
		return 1;
	if (tuner->kind == TUNER_HYPERDRIVE)
		return (guint)((BILLION + check_ppb(tuner) - 1) / check_ppb(tuner));
	if (tuner->work.n > 0)
		return tuner->work.n;
	if (tuner->n_phases > 0)
		return (guint)tuner->n_phases;
	for (guint left = n_trials / (guint)tuner->eta; left > 0; left /= (guint)tuner->eta)
		n++;
	return n;
}

guint
tuner_n_brackets(const Tuner *tuner, guint n_phases)
{
	if (tuner->kind != TUNER_HYPERBAND)
		return 1;
	return tuner->n_brackets > 0 ? MIN((guint)tuner->n_brackets, n_phases) : n_phases;
}

guint
tuner_n_bracket_phases(const Tuner *tuner, guint n_phases, guint bracket)
{
	return n_phases - bracket;
}

/* n_s of the bracket with s = n_phases - 1 - @bracket, S = n_phases. Whole numbers, and far from
 * exact only where there are more than 2^53 trials. */
static double
bracket_share(const Tuner *tuner, guint n_phases, guint bracket)
{
	guint s = n_phases - 1 - bracket;
	double share = n_phases;

	for (guint i = 0; i < s; i++)
		share *= (double)tuner->eta;
	return ceil(share / (s + 1));
}

guint
tuner_bracket(const Tuner *tuner, guint n_phases, guint n_trials, guint index)
{
	guint n_brackets = tuner_n_brackets(tuner, n_phases);
	double total = 0, before = 0;

	for (guint i = 0; i < n_brackets; i++)
		total += bracket_share(tuner, n_phases, i);
	for (guint i = 0; i + 1 < n_brackets; i++) {
		before += bracket_share(tuner, n_phases, i);
		if (index < floor(n_trials * before / total))
			return i;
	}
	return n_brackets - 1;
}

static SimWork
weighted_goal_ns(const Tuner *tuner, guint rung, SimWork duration_ns)
{
	__int128 up_to = 0, total = 0;

	for (guint i = 0; i < tuner->work.n; i++) {
		total += tuner->work.values[i];
		if (i <= rung)
			up_to += tuner->work.values[i];
	}
	return (SimWork)((__int128)duration_ns * up_to / total);
}

SimWork
tuner_goal_ns(const Tuner *tuner, guint n_phases, guint bracket, guint phase, SimWork duration_ns)
{
	guint rung = bracket + phase;
	SimWork goal_ns = duration_ns;

	if (rung + 1 >= n_phases)
		return duration_ns;
	if (tuner->kind == TUNER_HYPERDRIVE)
		return (SimWork)((__int128)duration_ns * (rung + 1) * check_ppb(tuner) / BILLION);
	if (tuner->work.n > 0)
		return weighted_goal_ns(tuner, rung, duration_ns);
	for (guint i = rung + 1; i < n_phases; i++)
		goal_ns /= tuner->eta; /* floor of floors is the floor of all */
	return goal_ns;
}

guint
tuner_n_survivors(const Tuner *tuner, guint n)
{
	return MAX(n / (guint)tuner->eta, 1);
}

guint32
tuner_max_gpus(const Tuner *tuner, const Job *job, guint phase)
{
	guint64 cap = job->num_gpus;

	if (!tuner->widens || job_is_rigid(job))
		return job->max_gpus;
	for (guint i = 0; i < phase && cap < job->max_gpus; i++)
		cap *= (guint64)tuner->eta;
	return (guint32)MIN(cap, job->max_gpus);
}
