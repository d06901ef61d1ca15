/* SPDX-License-Identifier: MIT */

/*
 * Packing (specs 2.3, A83): of the jobs that wait the one that keeps its GPU least busy is tried
 * on the least busy GPUs, and stays if both together get more done than in turns. Profiling costs
 * nothing, so a trial and its undoing would fall into one instant, and the models say how it would
 * end. What counts is the shape, so pairs of shapes are tried, and for each shape there is a pool
 * of those who wait and one of those who run by themselves. At most two jobs are on a GPU: that
 * is what models tell the speeds of.
 */

#include "policies/gandiva/state.h"

/* What is known of two models: nothing yet, or how they do together. */
typedef enum Worth {
	WORTH_UNKNOWN,
	WORTH_NOTHING,  /* better in turns */
	WORTH_A_LITTLE, /* better together, but not as good as each by itself */
	WORTH_IT_ALL,   /* they do not slow each other down */
} Worth;

void
gandiva_packing_init(Gandiva *self, const View *view)
{
	guint n_models = view_models(view)->n;

	self->packable = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->pairs = g_array_new(FALSE, FALSE, sizeof(JobId));
	self->worth = g_new0(guint8, (gsize)n_models * n_models);
}

void
gandiva_packing_clear(Gandiva *self)
{
	g_array_unref(self->packable);
	g_array_unref(self->pairs);
	g_free(self->worth);
}

/* pools */

static void
pool_leave(Gandiva *self, Shape *shape, Guest *guest)
{
	Guest *guests = self->shapes.guests;
	JobId before = guest->pool_previous, after = guest->pool_next;

	*(before != JOB_NONE ? &guests[before].pool_next : &shape->pools[guest->pool]) = after;
	if (after != JOB_NONE)
		guests[after].pool_previous = before;
	guest->pool = POOL_NONE;
}

static void
pool_enter(Gandiva *self, Shape *shape, JobId job, Pool pool)
{
	Guest *guests = self->shapes.guests;
	JobId first = shape->pools[pool];

	guests[job].pool = pool;
	guests[job].pool_previous = JOB_NONE;
	guests[job].pool_next = first;
	if (first != JOB_NONE)
		guests[first].pool_previous = job;
	shape->pools[pool] = job;
	self->has_new_pairs = TRUE;
}

static Pool
pool_for(const Gandiva *self, JobId job)
{
	const Guest *guest = gandiva_guest(self, job);
	const Row *row;

	if (guest->is_queued)
		return POOL_WAITS;
	if (guest->row == ROW_NONE || guest->partner != JOB_NONE)
		return POOL_NONE;
	row = gandiva_row(&self->rows, guest->row);
	return row->is_running && row->holder == job ? POOL_RUNS : POOL_WAITS;
}

void
gandiva_packing_settle(Gandiva *self, JobId job)
{
	Shape *shape = gandiva_shape_of(&self->shapes, job);
	Guest *guest = &self->shapes.guests[job];
	Pool pool;

	if (shape->utilisation_ppb == 0)
		return;
	pool = pool_for(self, job);
	if (pool == guest->pool)
		return;
	if (guest->pool != POOL_NONE)
		pool_leave(self, shape, guest);
	if (pool != POOL_NONE)
		pool_enter(self, shape, job, pool);
}

void
gandiva_packing_meet(Gandiva *self, const View *view, guint32 id)
{
	Shape *shape = gandiva_shape(&self->shapes, id);
	const ModelSpec *model;
	guint place = 0;

	if (!self->options.packing || shape->key.model == MODEL_NONE ||
	    shape->key.share_milli < GPU_MILLI)
		return;
	model = &view_models(view)->models[shape->key.model];
	if (model->packed->len == 0 || model->utilisation_ppb == 0)
		return;
	shape->utilisation_ppb = model->utilisation_ppb;
	while (place < self->packable->len &&
	       gandiva_shape(&self->shapes, g_array_index(self->packable, guint32, place))
	               ->utilisation_ppb <= shape->utilisation_ppb)
		place++;
	g_array_insert_val(self->packable, place, id);
}

/* pairs */

/* The keep test: the sum of their rates when packed, each over its own alone, is above 1. */
static Worth
find_worth(const ModelTable *models, guint32 one, guint32 other)
{
	gint64 sum_ppb =
	    speed_packed_ppb(models, one, other) + speed_packed_ppb(models, other, one);

	if (!speed_packed_is_known(models, one, other) ||
	    !speed_packed_is_known(models, other, one) || sum_ppb <= SPEED_ONE_PPB)
		return WORTH_NOTHING;
	return sum_ppb < 2 * SPEED_ONE_PPB ? WORTH_A_LITTLE : WORTH_IT_ALL;
}

static Worth
worth_of(const Decision *decision, const Shape *one, const Shape *other)
{
	const ModelTable *models = view_models(decision->view);
	guint8 *known =
	    &decision->self->worth[(gsize)one->key.model * models->n + other->key.model];

	if (*known == WORTH_UNKNOWN)
		*known = (guint8)find_worth(models, one->key.model, other->key.model);
	return (Worth)*known;
}

/* The job of the pool that runs on the lowest GPU from @from on; JOB_NONE if none does. */
static JobId
next_host(const Gandiva *self, const Shape *shape, guint32 from)
{
	guint32 lowest = G_MAXUINT32;
	JobId found = JOB_NONE;

	for (JobId job = shape->pools[POOL_RUNS]; job != JOB_NONE;
	     job = gandiva_guest(self, job)->pool_next) {
		guint32 row = gandiva_guest(self, job)->row;
		guint32 gpu = gandiva_row(&self->rows, row)->gpus.gpus[0];

		if (gpu < from || gpu >= lowest)
			continue;
		lowest = gpu;
		found = job;
	}
	return found;
}

/* The first that came of those who wait, and may go to the row; JOB_NONE if nobody may. */
static JobId
first_waiting(const Decision *decision, const Shape *shape, guint32 row)
{
	const Gandiva *self = decision->self;
	JobId found = JOB_NONE;

	for (JobId job = shape->pools[POOL_WAITS]; job != JOB_NONE;
	     job = gandiva_guest(self, job)->pool_next) {
		const Guest *guest = gandiva_guest(self, job);

		if ((guest->is_queued || guest->row == row || self->options.migration) &&
		    gandiva_is_ready(decision, job))
			found = MIN(found, job);
	}
	return found;
}

/* Memory of the GPUs that the row is on. */
static gboolean
fits_beside(const Decision *decision, const Job *job, guint32 row)
{
	const Gandiva *self = decision->self;
	const Alloc *gpus = &gandiva_row(&self->rows, row)->gpus;

	return gpus->n == gandiva_row_width(&self->rows, row) &&
	       cluster_alloc_is_sane(self->spec, job, gpus) &&
	       cluster_has_room(decision->cluster, job, gpus, CROWD_PACKED);
}

static gboolean
pack(Decision *decision, JobId job, JobId host)
{
	Gandiva *self = decision->self;
	const Job *spec = view_job(decision->view, job);
	guint32 row = gandiva_guest(self, host)->row;
	const Alloc *gpus = &gandiva_row(&self->rows, row)->gpus;
	gboolean is_move = self->options.migration && gandiva_guest(self, job)->row != row;

	if (is_move ? !gandiva_start_elsewhere(decision, job, gpus)
	            : plan_place(decision->plan, job, gpus) != PLAN_OK)
		return FALSE;
	if (gandiva_guest(self, job)->is_queued)
		gandiva_shapes_unqueue(&self->shapes, job);
	else
		gandiva_leave(self, decision->view, job);
	gandiva_servers_add(&self->servers, spec, gpus->n, gpus);
	gandiva_rows_pack(&self->rows, host, job);
	g_array_append_val(self->pairs, job);
	gandiva_packing_settle(self, job);
	gandiva_packing_settle(self, host);
	return TRUE;
}

/* One that waits and one that runs, of these shapes. */
static gboolean
pack_pair(Decision *decision, const Shape *waiting, const Shape *running)
{
	Gandiva *self = decision->self;
	JobId host = next_host(self, running, 0);

	while (host != JOB_NONE) {
		guint32 row = gandiva_guest(self, host)->row;
		JobId job = first_waiting(decision, waiting, row);

		if (job != JOB_NONE && fits_beside(decision, view_job(decision->view, job), row) &&
		    pack(decision, job, host))
			return TRUE;
		host = next_host(self, running, gandiva_row(&self->rows, row)->gpus.gpus[0] + 1);
	}
	return FALSE;
}

/* Somebody of the shape with the least busy that do. */
static gboolean
pack_one(Decision *decision, const Shape *waiting)
{
	Gandiva *self = decision->self;

	for (guint i = 0; i < self->packable->len && waiting->pools[POOL_WAITS] != JOB_NONE; i++) {
		const Shape *running =
		    gandiva_shape(&self->shapes, g_array_index(self->packable, guint32, i));

		if (running->pools[POOL_RUNS] != JOB_NONE && running->width == waiting->width &&
		    worth_of(decision, waiting, running) != WORTH_NOTHING &&
		    pack_pair(decision, waiting, running))
			return TRUE;
	}
	return FALSE;
}

void
gandiva_pack(Decision *decision)
{
	Gandiva *self = decision->self;

	if (!self->has_new_pairs)
		return;
	for (guint i = 0; i < self->packable->len; i++) {
		const Shape *waiting =
		    gandiva_shape(&self->shapes, g_array_index(self->packable, guint32, i));

		while (pack_one(decision, waiting))
			continue;
	}
	self->has_new_pairs = FALSE;
}

/* parting */

/* TRUE if the two are no pair any more. */
static gboolean
part(Decision *decision, JobId job)
{
	Gandiva *self = decision->self;
	JobId partner = gandiva_guest(self, job)->partner;
	const Shape *shape = gandiva_shape_of(&self->shapes, job);
	const Row *row;

	if (partner == JOB_NONE)
		return TRUE;
	row = gandiva_row(&self->rows, gandiva_guest(self, job)->row);
	if (!row->is_running || (row->holder != job && row->holder != partner) ||
	    worth_of(decision, shape, gandiva_shape_of(&self->shapes, partner)) == WORTH_IT_ALL)
		return FALSE;
	if (!gandiva_find(decision, view_job(decision->view, job), &self->where) ||
	    plan_move(decision->plan, job, &self->where) != PLAN_OK)
		return FALSE;
	gandiva_leave(self, decision->view, job);
	gandiva_settle(decision, job, &self->where);
	return TRUE;
}

void
gandiva_part(Decision *decision)
{
	GArray *pairs = decision->self->pairs;
	guint n_left = 0;

	for (guint i = 0; i < pairs->len; i++) {
		JobId job = g_array_index(pairs, JobId, i);

		if (!part(decision, job))
			g_array_index(pairs, JobId, n_left++) = job;
	}
	g_array_set_size(pairs, n_left);
}
