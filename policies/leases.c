/* SPDX-License-Identifier: MIT */

#include "sim/policy.h"

typedef struct Batch {
	SimTime end_ns;
	guint n_gpus; /* still leased by it */
	GArray *jobs; /* of JobId: those it leased to, whether or not they still hold */
} Batch;

struct Leases {
	guint n_gpus;
	Batch **batches; /* by GPU; NULL = not leased */
	GQueue queue;    /* of Batch, by end */
	GQueue spare;    /* of Batch: used up, to be used again */
};

static void
batch_free(gpointer data)
{
	Batch *batch = data;

	g_array_unref(batch->jobs);
	g_free(batch);
}

Leases *
leases_new(guint n_gpus)
{
	Leases *leases = g_new0(Leases, 1);

	leases->n_gpus = n_gpus;
	leases->batches = g_new0(Batch *, n_gpus);
	g_queue_init(&leases->queue);
	g_queue_init(&leases->spare);
	return leases;
}

void
leases_free(Leases *leases)
{
	if (leases == NULL)
		return;
	g_free(leases->batches);
	g_queue_clear_full(&leases->queue, batch_free);
	g_queue_clear_full(&leases->spare, batch_free);
	g_free(leases);
}

static GList * /* of Batch */
take_spare(Leases *leases)
{
	GList *link = g_queue_pop_head_link(&leases->spare);
	Batch *batch;

	if (link != NULL)
		return link;
	batch = g_new0(Batch, 1);
	batch->jobs = g_array_new(FALSE, FALSE, sizeof(JobId));
	return g_list_append(NULL, batch);
}

/* The batch that ends at @end_ns: mostly the last, or a new one behind it. */
static Batch *
batch_of(Leases *leases, SimTime end_ns)
{
	GList *before = leases->queue.tail, *link;

	while (before != NULL && ((Batch *)before->data)->end_ns > end_ns)
		before = before->prev;
	if (before != NULL && ((Batch *)before->data)->end_ns == end_ns)
		return before->data;
	link = take_spare(leases);
	((Batch *)link->data)->end_ns = end_ns;
	if (before == NULL)
		g_queue_push_head_link(&leases->queue, link);
	else
		g_queue_insert_after_link(&leases->queue, before, link);
	return link->data;
}

SimTime
leases_last_iteration_ns(const Job *job, gint64 rate_ppb, SimTime since_ns, SimTime end_ns,
                         SimTime lease_ns)
{
	/* n iterations take n x work / rate. */
	__int128 work = (__int128)job->iteration_ns * job->num_gpus * SPEED_ONE_PPB;
	__int128 n;

	if (work == 0 || rate_ppb == 0 || work > (__int128)lease_ns * rate_ppb)
		return end_ns;
	n = (__int128)(end_ns - since_ns) * rate_ppb / work;
	return since_ns + (SimTime)(n * work / rate_ppb);
}

void
leases_drop(Leases *leases, guint32 gpu)
{
	if (leases->batches[gpu] == NULL)
		return;
	leases->batches[gpu]->n_gpus--;
	leases->batches[gpu] = NULL;
}

void
leases_give(Leases *leases, const Alloc *gpus, JobId job, SimTime end_ns)
{
	Batch *batch = batch_of(leases, end_ns);

	for (guint i = 0; i < gpus->n; i++) {
		leases_drop(leases, gpus->gpus[i]);
		leases->batches[gpus->gpus[i]] = batch;
	}
	batch->n_gpus += gpus->n;
	g_array_append_val(batch->jobs, job);
}

SimTime
leases_next_end_ns(Leases *leases)
{
	for (;;) {
		Batch *batch = g_queue_peek_head(&leases->queue);

		if (batch == NULL)
			return TIME_NEVER;
		if (batch->n_gpus > 0)
			return batch->end_ns;
		g_array_set_size(batch->jobs, 0);
		g_queue_push_tail_link(&leases->spare, g_queue_pop_head_link(&leases->queue));
	}
}

gboolean
leases_is_due(const Leases *leases, guint32 gpu, SimTime now_ns)
{
	return leases->batches[gpu] != NULL && leases->batches[gpu]->end_ns <= now_ns;
}

void
leases_find_due(Leases *leases, SimTime now_ns, GArray *jobs)
{
	for (GList *link = leases->queue.head; link != NULL; link = link->next) {
		const Batch *batch = link->data;

		if (batch->end_ns > now_ns)
			return;
		if (batch->n_gpus > 0)
			g_array_append_vals(jobs, batch->jobs->data, batch->jobs->len);
	}
}

gboolean
leases_check(SimTime lease_ns, const View *view, GError **error)
{
	const Overheads most = view_largest_overheads(view);
	const struct {
		const char *name;
		SimTime ns;
	} costs[] = {
		{ "start_s", most.start_ns },
		{ "resume_s + suspend_s", time_add(most.resume_ns, most.suspend_ns) },
		{ "migrate_s", most.migrate_ns },
	};

	for (guint i = 0; i < G_N_ELEMENTS(costs); i++)
		if (lease_ns <= costs[i].ns) {
			g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
			            "lease_s: %g, must be above %s, which is %g",
			            (double)lease_ns / NS_PER_S, costs[i].name,
			            (double)costs[i].ns / NS_PER_S);
			return FALSE;
		}
	return TRUE;
}
