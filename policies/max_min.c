/* SPDX-License-Identifier: MIT */

/*
 * Max-min fair sharing of GPUs (policies.md 4.3): the next gang goes to the party that has the
 * least, by its weight, of those with a job that fits. A party is an app, a user or a tenant; a
 * tenant's share may be shared out again among its users or apps, a user's among its apps.
 */

#include "sim/policy.h"

typedef enum PartyKind {
	PARTY_APP,
	PARTY_USER,
	PARTY_TENANT,
	PARTY_NONE, /* for within: first come, first served */
} PartyKind;

typedef struct MaxMinOptions {
	PlacementOptions placement;
	gint by, within; /* PartyKind */
	SimTime quantum_ns;
	gboolean preempt;
} MaxMinOptions;

/* Parties are numbered in the order of their first jobs. */
typedef struct Party {
	guint of;      /* the party that it is part of; itself, if of none */
	double weight; /* of its first job */
	guint64 held_milli;
	GpuTime had;   /* GPU-time of its jobs so far, where rounds take turns */
	GpuTime past;  /* the part of jobs that are gone */
	GArray *queue; /* of JobId: jobs that hold nothing, those that run first */
	guint next;    /* in the queue */
} Party;

typedef struct MaxMin {
	MaxMinOptions options;
	RoundsRules rules;
	Rounds *rounds;
	GArray *parties;     /* of Party */
	GHashTable *by_name; /* text -> 1 + party */
	guint32 *party_of;   /* by JobId: the innermost */
} MaxMin;

static Party *
party(const MaxMin *max_min, guint index)
{
	return &g_array_index(max_min->parties, Party, index);
}

/* who belongs to whom */

static char *
party_name(const View *view, const Job *job, PartyKind kind)
{
	switch (kind) {
	case PARTY_APP:
		return g_strdup_printf("a%s", view_app(view, job->app)->name);
	case PARTY_USER:
		return g_strdup_printf("u%s", job->user);
	case PARTY_TENANT:
		return g_strdup_printf("t%s", job->tenant);
	case PARTY_NONE:
		break;
	}
	g_assert_not_reached();
}

/* The party called @name within @of (or by itself, if that is NULL), a new one if need be. */
static guint
find_party(MaxMin *max_min, const char *name, const guint *of, const Job *first)
{
	g_autofree char *path = of != NULL ? g_strdup_printf("%u/%s", *of, name) : g_strdup(name);
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(max_min->by_name, path));
	Party new = { .weight = first->weight };

	if (found > 0)
		return found - 1;
	new.of = of != NULL ? *of : max_min->parties->len;
	new.queue = g_array_new(FALSE, FALSE, sizeof(JobId));
	g_array_append_val(max_min->parties, new);
	g_hash_table_insert(max_min->by_name, g_steal_pointer(&path),
	                    GUINT_TO_POINTER(max_min->parties->len));
	return max_min->parties->len - 1;
}

static void
max_min_arrived(void *self, const View *view, const Job *job)
{
	MaxMin *max_min = self;
	g_autofree char *outer = party_name(view, job, (PartyKind)max_min->options.by);
	guint index = find_party(max_min, outer, NULL, job);

	if (max_min->options.within != PARTY_NONE) {
		g_autofree char *inner = party_name(view, job, (PartyKind)max_min->options.within);

		index = find_party(max_min, inner, &index, job);
	}
	max_min->party_of[job->id] = index;
	rounds_arrived(max_min->rounds, job);
}

static void
max_min_completed(void *self, const View *view, const Job *job)
{
	MaxMin *max_min = self;
	Party *own = party(max_min, max_min->party_of[job->id]);

	own->past += view_attained_service(view, job->id);
	rounds_completed(max_min->rounds, job);
}

/* shares */

static void
add_held(const MaxMin *max_min, guint index, guint64 held_milli)
{
	Party *own = party(max_min, index);

	own->held_milli += held_milli;
	if (own->of != index)
		party(max_min, own->of)->held_milli += held_milli;
}

static void
add_had(const MaxMin *max_min, guint index, GpuTime had)
{
	Party *own = party(max_min, index);

	own->had += had;
	if (own->of != index)
		party(max_min, own->of)->had += had;
}

static void
count_job(const MaxMin *max_min, const View *view, JobId id)
{
	const Job *job = view_job(view, id);
	guint held = rounds_held(max_min->rounds, view, id);
	Party *own = party(max_min, max_min->party_of[id]);

	add_had(max_min, max_min->party_of[id], view_attained_service(view, id));
	if (held > 0)
		add_held(max_min, max_min->party_of[id], job_held_milli(job, held));
	else
		g_array_append_val(own->queue, id);
}

/* What everybody holds and waits for now. In a party's queue those that run go first, so that no
 * job stops for another of its own. */
static void
count_all(const MaxMin *max_min, const View *view)
{
	const GArray *active = rounds_active(max_min->rounds);

	for (guint i = 0; i < max_min->parties->len; i++) {
		Party *own = party(max_min, i);

		own->held_milli = 0;
		own->had = 0;
		own->next = 0;
		g_array_set_size(own->queue, 0);
	}
	for (guint i = 0; i < max_min->parties->len; i++)
		add_had(max_min, i, party(max_min, i)->past);
	for (guint run = 0; run < 2; run++)
		for (guint i = 0; i < active->len; i++) {
			JobId job = g_array_index(active, JobId, i);

			if ((view_state(view, job) == JOB_RUNNING) == (run == 0))
				count_job(max_min, view, job);
		}
}

/* Less than 0 if @one is to be served before @other. Jobs cannot be cut to size, so that equal
 * shares of a round are not equal for long: then whoever has had less so far goes first. */
static int
compare_parties(const MaxMin *max_min, guint one, guint other)
{
	const Party *a = party(max_min, one), *b = party(max_min, other);
	gint64 held_a = score_rank_of((double)a->held_milli / a->weight);
	gint64 held_b = score_rank_of((double)b->held_milli / b->weight);

	if (held_a != held_b)
		return held_a < held_b ? -1 : 1;
	if (max_min->options.preempt) {
		gint64 had_a = score_rank_of((double)a->had / a->weight);
		gint64 had_b = score_rank_of((double)b->had / b->weight);

		if (had_a != had_b)
			return had_a < had_b ? -1 : 1;
	}
	return one < other ? -1 : one > other;
}

static gboolean
is_before(const MaxMin *max_min, guint one, guint other)
{
	int outer = compare_parties(max_min, party(max_min, one)->of, party(max_min, other)->of);

	return (outer != 0 ? outer : compare_parties(max_min, one, other)) < 0;
}

/* Of the parties that wait the one to be served next; G_MAXUINT if nobody does. */
static guint
next_party(const MaxMin *max_min)
{
	guint first = G_MAXUINT;

	for (guint i = 0; i < max_min->parties->len; i++) {
		const Party *own = party(max_min, i);

		if (own->next < own->queue->len &&
		    (first == G_MAXUINT || is_before(max_min, i, first)))
			first = i;
	}
	return first;
}

/* Its first job that fits. */
static void
serve_party(const MaxMin *max_min, const View *view, Plan *plan, guint index)
{
	Party *own = party(max_min, index);

	while (own->next < own->queue->len) {
		const Job *job = view_job(view, g_array_index(own->queue, JobId, own->next++));

		if (!rounds_take(max_min->rounds, view, plan, job, ROUNDS_ANY_TYPE))
			continue;
		add_held(max_min, index, job_held_milli(job, job->num_gpus));
		return;
	}
}

static void
max_min_serve(void *self, const View *view, Plan *plan)
{
	MaxMin *max_min = self;
	guint index;

	count_all(max_min, view);
	while ((index = next_party(max_min)) != G_MAXUINT)
		serve_party(max_min, view, plan, index);
}

/* the contract */

static gboolean
check_within(const MaxMinOptions *options, GError **error)
{
	if (options->within == PARTY_NONE || options->within < options->by)
		return TRUE;
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
	            "within: found a party that is no part of a party of \"by\", wanted app or "
	            "user with by=tenant, app with by=user, or none");
	return FALSE;
}

static gboolean
max_min_init(void *self, const void *options, const View *view, GError **error)
{
	MaxMin *max_min = self;

	max_min->options = *(const MaxMinOptions *)options;
	if (!check_within(&max_min->options, error) ||
	    (max_min->options.preempt &&
	     !rounds_check_length(view, "quantum_s", max_min->options.quantum_ns, error)))
		return FALSE;
	max_min->rules = (RoundsRules){
		.length_ns = max_min->options.preempt ? max_min->options.quantum_ns : TIME_NEVER,
		.serve = max_min_serve,
	};
	max_min->rounds = rounds_new(view, &max_min->rules, &max_min->options.placement, max_min);
	max_min->parties = g_array_new(FALSE, FALSE, sizeof(Party));
	max_min->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	max_min->party_of = g_new0(guint32, view_n_jobs(view));
	return TRUE;
}

static void
max_min_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	rounds_decide(((MaxMin *)self)->rounds, view, plan);
}

static void
max_min_finish(void *self)
{
	MaxMin *max_min = self;

	for (guint i = 0; max_min->parties != NULL && i < max_min->parties->len; i++)
		g_array_unref(party(max_min, i)->queue);
	g_clear_pointer(&max_min->parties, g_array_unref);
	g_clear_pointer(&max_min->by_name, g_hash_table_unref);
	rounds_free(max_min->rounds);
	g_free(max_min->party_of);
}

static PlacementLevel
max_min_max_level(const void *options)
{
	return (PlacementLevel)((const MaxMinOptions *)options)->placement.max_level;
}

static const char *const by_names[] = { "app", "user", "tenant", NULL };
static const char *const within_names[] = { "app", "user", "tenant", "none", NULL };

static const Option max_min_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(MaxMinOptions, by),
	  .standard = "user",
	  .choices = by_names,
	  .help = "whose shares are to be even" },
	{ .name = "within",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(MaxMinOptions, within),
	  .standard = "none",
	  .choices = within_names,
	  .help =
	      "among whom a share is shared out evenly again; none is first come, first served" },
	{ .name = "preempt",
	  .kind = OPTION_BOOL,
	  .offset = G_STRUCT_OFFSET(MaxMinOptions, preempt),
	  .standard = "false",
	  .help = "whether all GPUs are shared out anew every quantum_s" },
	{ .name = "quantum_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(MaxMinOptions, quantum_ns),
	  .standard = "60",
	  .min = 1e-9,
	  .help = "with preempt; longer than any overhead" },
	PLACEMENT_OPTION_ROWS(MaxMinOptions, placement),
	{ 0 },
};

const PolicyClass max_min_policy = {
	.abi = POLICY_ABI,
	.name = "max-min",
	.version = "1",
	.summary = "weighted max-min fair shares of GPUs by app, user or tenant",
	.source = "Ghodsi et al., Dominant resource fairness, NSDI'11, with one resource",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = max_min_options,
	.options_size = sizeof(MaxMinOptions),
	.state_size = sizeof(MaxMin),
	.init = max_min_init,
	.arrived = max_min_arrived,
	.completed = max_min_completed,
	.decide = max_min_decide,
	.finish = max_min_finish,
	.max_level = max_min_max_level,
	.idea =
	    "Free GPUs go, a gang at a time, to the party that holds the fewest GPUs for its "
	    "weight and has a job that fits; a party's jobs go in the order of their submission, "
	    "passing over those that do not fit. A party has the weight of its first job. Shares "
	    "are those of this moment: what a party had before does not count, and jobs that run "
	    "are not stopped, so that a party which comes late waits until others end. With "
	    "preempt all is shared out anew every quantum_s, and between parties of equal shares "
	    "the one that has had less GPU-time goes first.",
};
