/* SPDX-License-Identifier: MIT */

/*
 * EASY backfilling (A63). The head of the queue gets a promise: the shadow, the earliest instant at
 * which running jobs will have left enough GPUs. Others may start before it if they keep that
 * promise: they end by then, or need no more than the GPUs that will be left over besides.
 *
 * Waiting jobs stand in a line for each width, so that a decision looks at those who may start and
 * at nobody else.
 */

#include "sim/policy.h"

typedef struct EasyOptions {
	PlacementOptions placement;
} EasyOptions;

/* Waiting jobs of one width. For jobs that ask for more than a number one misfit says nothing of
 * those behind it: they have lines of their own. */
typedef struct Line {
	Backlog *backlog;
	guint num_gpus;
	gboolean is_by_count;
	JobId from; /* during a decision: those below have been tried */
} Line;

/* A running job. */
typedef struct Ending {
	SimTime at_ns; /* as estimated */
	JobId job;
	guint n_gpus;
} Ending;

typedef struct Easy {
	const PlacementOptions *placement;
	const ClusterSpec *spec;
	GArray *lines;   /* of Line */
	GArray *endings; /* of Ending, ascending */
	Cluster *later;  /* the cluster at the shadow of a head that fits by place; empty between
	                  * decisions */
	GArray *stayers; /* of JobId: who is in it */
	Alloc where, beside;
} Easy;

static const Option easy_options[] = {
	PLACEMENT_OPTION_ROWS(EasyOptions, placement),
	{ 0 },
};

static gboolean
easy_init(void *self, const void *options, const View *view, GError **error)
{
	Easy *easy = self;

	easy->placement = &((const EasyOptions *)options)->placement;
	easy->spec = view_cluster_spec(view);
	easy->lines = g_array_new(FALSE, FALSE, sizeof(Line));
	easy->endings = g_array_new(FALSE, FALSE, sizeof(Ending));
	easy->stayers = g_array_new(FALSE, FALSE, sizeof(JobId));
	return TRUE;
}

static void
easy_finish(void *self)
{
	Easy *easy = self;

	for (guint i = 0; easy->lines != NULL && i < easy->lines->len; i++)
		backlog_free(g_array_index(easy->lines, Line, i).backlog);
	g_clear_pointer(&easy->lines, g_array_unref);
	g_clear_pointer(&easy->endings, g_array_unref);
	g_clear_pointer(&easy->stayers, g_array_unref);
	cluster_free(easy->later);
	alloc_clear(&easy->where);
	alloc_clear(&easy->beside);
}

/* who waits, who runs */

static gboolean
is_by_count(const Easy *easy, const Job *job)
{
	return placement_is_by_count(easy->spec, easy->placement) &&
	       placement_job_is_by_count(easy->spec, job);
}

static Line *
line_of(Easy *easy, const Job *job)
{
	Line line = { .num_gpus = job->num_gpus, .is_by_count = is_by_count(easy, job) };
	guint i = 0;

	for (; i < easy->lines->len; i++) {
		const Line *other = &g_array_index(easy->lines, Line, i);

		if (other->num_gpus == line.num_gpus && other->is_by_count == line.is_by_count)
			break;
	}
	if (i == easy->lines->len) {
		line.backlog = backlog_new();
		g_array_append_val(easy->lines, line);
	}
	return &g_array_index(easy->lines, Line, i);
}

/* How long the job is expected to hold its GPUs; a trial, up to the end of its phase. */
static SimTime
estimate_ns(const View *view, const Job *job)
{
	Overheads overheads = view_overheads(view, job->id);
	gboolean is_new = view_n_starts(view, job->id) == 0;
	SimWork remaining_ns = 0;

	view_remaining_ns(view, job->id, &remaining_ns);
	return MIN(time_add(remaining_ns, is_new ? overheads.start_ns : overheads.resume_ns),
	           TIME_NEVER - 1);
}

static void
easy_arrived(void *self, const View *view, const Job *job)
{
	Easy *easy = self;

	backlog_add(line_of(easy, job)->backlog, job->id, estimate_ns(view, job));
}

static void
easy_completed(void *self, const View *view, const Job *job)
{
	Easy *easy = self;

	for (guint i = 0; i < easy->endings->len; i++) {
		if (g_array_index(easy->endings, Ending, i).job != job->id)
			continue;
		g_array_remove_index(easy->endings, i);
		break;
	}
}

static void
add_ending(Easy *easy, const View *view, const Job *job, SimTime length_ns)
{
	Ending ending = { time_add(view_now_ns(view), length_ns), job->id, job->num_gpus };
	guint low = 0, high = easy->endings->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(easy->endings, Ending, middle).at_ns <= ending.at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	g_array_insert_val(easy->endings, low, ending);
}

/* Starts the job if it fits. */
static gboolean
start(Easy *easy, const View *view, Plan *plan, const Job *job)
{
	if (!placement_find(view, job, job->num_gpus, easy->placement, &easy->where) ||
	    plan_place(plan, job->id, &easy->where) != PLAN_OK)
		return FALSE;
	backlog_remove(line_of(easy, job)->backlog, job->id);
	add_ending(easy, view, job, estimate_ns(view, job));
	return TRUE;
}

/* A trial that should have ended by now has been granted more work where it is. */
static void
prolong_endings(Easy *easy, const View *view)
{
	for (guint i = 0; i < easy->endings->len; i++) {
		const Ending *ending = &g_array_index(easy->endings, Ending, i);
		const Job *job = view_job(view, ending->job);
		SimWork remaining_ns = 0;

		if (ending->at_ns > view_now_ns(view))
			break;
		if (view_app(view, job->app)->tuner == NULL ||
		    !view_remaining_ns(view, job->id, &remaining_ns) || remaining_ns == 0)
			continue;
		g_array_remove_index(easy->endings, i--);
		add_ending(easy, view, job, remaining_ns);
	}
}

/* the head */

/* The first of the queue; NULL if nobody waits. */
static const Job *
find_head(const Easy *easy, const View *view)
{
	JobId head = JOB_NONE;

	for (guint i = 0; i < easy->lines->len; i++)
		head = MIN(
		    head, backlog_find(g_array_index(easy->lines, Line, i).backlog, 0, TIME_NEVER));
	return head != JOB_NONE ? view_job(view, head) : NULL;
}

/* The shadow of a head that only needs a number of GPUs. */
static SimTime
find_shadow_by_count(const Easy *easy, const View *view, const Job *head, guint64 *ret_n_free)
{
	guint64 n_free = view_cluster(view)->n_free;
	SimTime shadow_ns = view_now_ns(view);

	for (guint i = 0; i < easy->endings->len; i++) {
		const Ending *ending = &g_array_index(easy->endings, Ending, i);

		if (n_free >= head->num_gpus && ending->at_ns > shadow_ns)
			break;
		shadow_ns = MAX(shadow_ns, ending->at_ns);
		n_free += ending->n_gpus;
	}
	*ret_n_free = n_free;
	return shadow_ns;
}

/* Whether GPUs of @type are among those that the head waits for. */
static gboolean
head_wants(const Job *head, guint type)
{
	return (head->gpu_types >> type & 1) != 0;
}

/* GPUs that the head could use; those of other types are nothing that others could take from it. */
static guint64
n_free_for(const Cluster *cluster, const Job *head)
{
	guint64 n = 0;

	for (guint type = 0; type < cluster->spec->n_types; type++)
		if (head_wants(head, type))
			n += cluster->free_by_type[type];
	return n;
}

/* Whether the head fits into what those who are still there at the shadow leave. */
static gboolean
fits_later(Easy *easy, const View *view, const Job *head)
{
	return placement_find_on(easy->later, view, head, head->num_gpus, easy->placement,
	                         &easy->where);
}

static void
fill_later(Easy *easy, const View *view)
{
	if (easy->later == NULL)
		easy->later = cluster_new(easy->spec);
	for (guint i = 0; i < easy->endings->len; i++) {
		JobId job = g_array_index(easy->endings, Ending, i).job;

		cluster_take(easy->later, view_job(view, job), view_alloc(view, job));
	}
}

static void
empty_later(Easy *easy, const View *view)
{
	for (guint i = 0; i < easy->stayers->len; i++) {
		JobId job = g_array_index(easy->stayers, JobId, i);

		cluster_give(easy->later, view_job(view, job), view_alloc(view, job));
	}
	g_array_set_size(easy->stayers, 0);
}

/* That of one that fits where it fits: running jobs leave one by one. */
static SimTime
find_shadow_by_place(Easy *easy, const View *view, const Job *head, guint64 *ret_n_free)
{
	SimTime shadow_ns = view_now_ns(view);
	const GArray *endings = easy->endings;
	guint n_left = 0;

	fill_later(easy, view);
	for (; n_left < endings->len; n_left++) {
		const Ending *ending = &g_array_index(endings, Ending, n_left);

		if (ending->at_ns > shadow_ns && fits_later(easy, view, head))
			break;
		shadow_ns = MAX(shadow_ns, ending->at_ns);
		cluster_give(easy->later, view_job(view, ending->job),
		             view_alloc(view, ending->job));
	}
	*ret_n_free = n_free_for(easy->later, head);
	for (; n_left < endings->len; n_left++)
		g_array_append_val(easy->stayers, g_array_index(endings, Ending, n_left).job);
	return shadow_ns;
}

/* behind the head */

/* The next job of the line that keeps the promise; JOB_NONE if there is none. What jobs ask for
 * besides a number is looked at one by one. */
static JobId
line_next(const Line *line, SimTime most_ns, gint64 n_extra)
{
	gboolean is_any = line->num_gpus <= n_extra || !line->is_by_count;

	return backlog_find(line->backlog, line->from, is_any ? TIME_NEVER : most_ns);
}

/* The next job of all lines that fits by its number of GPUs, and its line. */
static JobId
find_candidate(const Easy *easy, guint n_free, SimTime most_ns, gint64 n_extra, Line **ret_line)
{
	JobId found = JOB_NONE;

	for (guint i = 0; i < easy->lines->len; i++) {
		Line *line = &g_array_index(easy->lines, Line, i);
		JobId job = JOB_NONE;

		/* A share may find a GPU that is partly used. */
		if (line->num_gpus <= n_free || !line->is_by_count)
			job = line_next(line, most_ns, n_extra);
		if (job < found) {
			found = job;
			*ret_line = line;
		}
	}
	return found;
}

/* Whether the job might take what the head waits for. */
static gboolean
shares_a_type(const Easy *easy, const Job *job, const Job *head)
{
	for (guint type = 0; type < easy->spec->n_types; type++)
		if (head_wants(head, type) && head_wants(job, type))
			return TRUE;
	return FALSE;
}

/* Whether it has. */
static gboolean
is_on(const Easy *easy, const View *view, const Job *job, const Job *head)
{
	guint32 gpu = view_alloc(view, job->id)->gpus[0];

	return head_wants(head, easy->spec->machines[easy->spec->machine_of[gpu]].type);
}

/* Whether the head, which fits by place, still fits at the shadow beside @job, which will not have
 * ended by then: a number of GPUs does not say that. */
static gboolean
leaves_room(Easy *easy, const View *view, const Job *job, const Job *head)
{
	gboolean is_room;

	if (!placement_find(view, job, job->num_gpus, easy->placement, &easy->beside))
		return FALSE;
	cluster_take(easy->later, job, &easy->beside);
	is_room = fits_later(easy, view, head);
	cluster_give(easy->later, job, &easy->beside);
	return is_room;
}

/* A job that runs beyond the shadow has been started. */
static void
stay(Easy *easy, const View *view, const Job *job)
{
	cluster_take(easy->later, job, view_alloc(view, job->id));
	g_array_append_val(easy->stayers, job->id);
}

static void
backfill(Easy *easy, const View *view, Plan *plan, const Job *head)
{
	gboolean is_counted = is_by_count(easy, head);
	guint64 n_free_then = 0;
	SimTime shadow_ns = is_counted ? find_shadow_by_count(easy, view, head, &n_free_then)
	                               : find_shadow_by_place(easy, view, head, &n_free_then);
	SimTime most_ns = shadow_ns - view_now_ns(view);
	gint64 n_extra = (gint64)n_free_then - head->num_gpus;

	for (;;) {
		Line *line = NULL;
		JobId id =
		    find_candidate(easy, view_cluster(view)->n_free, most_ns, n_extra, &line);
		gboolean ends_in_time;
		const Job *job;

		if (id == JOB_NONE)
			break;
		job = view_job(view, id);
		line->from = id + 1;
		ends_in_time = estimate_ns(view, job) <= most_ns;
		if (!ends_in_time && job->num_gpus > n_extra && shares_a_type(easy, job, head))
			continue;
		if (!ends_in_time && !is_counted && !leaves_room(easy, view, job, head))
			continue;
		if (!start(easy, view, plan, job) || ends_in_time)
			continue;
		if (is_on(easy, view, job, head))
			n_extra -= job->num_gpus;
		if (!is_counted)
			stay(easy, view, job);
	}
	empty_later(easy, view);
}

/* Whether anybody behind the head is narrow enough for what is free. */
static gboolean
has_candidate(const Easy *easy, const View *view, const Job *head)
{
	Line *line = NULL;

	for (guint i = 0; i < easy->lines->len; i++)
		g_array_index(easy->lines, Line, i).from = head->id + 1;
	return find_candidate(easy, view_cluster(view)->n_free, TIME_NEVER, G_MAXINT64, &line) !=
	       JOB_NONE;
}

static void
easy_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Easy *easy = self;
	const Job *head = find_head(easy, view);

	prolong_endings(easy, view);
	while (head != NULL && start(easy, view, plan, head))
		head = find_head(easy, view);
	if (head != NULL && has_candidate(easy, view, head))
		backfill(easy, view, plan, head);
}

static PlacementLevel
easy_max_level(const void *options)
{
	return (PlacementLevel)((const EasyOptions *)options)->placement.max_level;
}

const PolicyClass easy_policy = {
	.abi = POLICY_ABI,
	.name = "easy",
	.version = "1",
	.summary = "first come, first served, with backfilling that never delays the head",
	.source = "Lifka, The ANL/IBM SP scheduling system, JSSPP'95",
	.caps = POLICY_ORACLE,
	.options = easy_options,
	.options_size = sizeof(EasyOptions),
	.state_size = sizeof(Easy),
	.init = easy_init,
	.arrived = easy_arrived,
	.completed = easy_completed,
	.decide = easy_decide,
	.finish = easy_finish,
	.max_level = easy_max_level,
	.idea =
	    "The head of the queue is promised the earliest instant at which enough GPUs will be "
	    "free, knowing how long jobs take. Meanwhile a job behind it may start if it ends "
	    "by then, or if it fits into what the head will leave over: by the number of GPUs, "
	    "and, "
	    "where that does not say all, by where they are.",
};
