/* SPDX-License-Identifier: MIT */

/*
 * The order of a decision (A82): turns that are over hand on their GPUs, the queue is served,
 * waiting jobs move to GPUs that are still free, the least busy are packed, jobs are moved closer
 * together or out of the way of others, and what is idle then is grown into.
 *
 * A turn costs its row and nothing else; who waits is looked at only when GPUs fell free or
 * somebody came.
 */

#include "policies/gandiva/state.h"
#include "sim/policy.h"

/* who is where */

void
gandiva_begin_epoch(Gandiva *self)
{
	self->epoch++;
	g_array_set_size(self->failed, 0);
}

/* The row's wake is to be looked at when the decision is over. */
static void
mark_stale(Gandiva *self, guint32 row)
{
	if (gandiva_row(&self->rows, row)->is_stale)
		return;
	gandiva_row(&self->rows, row)->is_stale = TRUE;
	g_array_append_val(self->stale, row);
}

static void
mark_vacant(Gandiva *self, guint32 row)
{
	if (gandiva_row(&self->rows, row)->is_vacant)
		return;
	gandiva_row(&self->rows, row)->is_vacant = TRUE;
	g_array_append_val(self->vacant, row);
}

static guint
width_of(const Gandiva *self, JobId job)
{
	return gandiva_shape_of(&self->shapes, job)->width;
}

void
gandiva_settle(Decision *decision, JobId id, const Alloc *where)
{
	Gandiva *self = decision->self;
	const Job *job = view_job(decision->view, id);
	guint32 row;

	gandiva_servers_add(&self->servers, job, width_of(self, id), where);
	if (job->share_milli < GPU_MILLI) {
		self->shapes.guests[id].shared_gpu = where->gpus[0];
		return;
	}
	row = gandiva_rows_open(&self->rows, id, width_of(self, id), where, decision->now_ns);
	mark_stale(self, row);
	gandiva_note_spread(decision, row);
	gandiva_packing_settle(self, id);
}

/* @job sits down at the end of the row. */
static void
sit_down(Decision *decision, guint32 row, JobId id)
{
	Gandiva *self = decision->self;

	gandiva_servers_add(&self->servers, view_job(decision->view, id), width_of(self, id),
	                    &gandiva_row(&self->rows, row)->gpus);
	gandiva_rows_join(&self->rows, row, id);
	mark_stale(self, row);
	gandiva_packing_settle(self, id);
}

void
gandiva_leave(Gandiva *self, const View *view, JobId id)
{
	guint32 row = gandiva_guest(self, id)->row;
	JobId partner = gandiva_guest(self, id)->partner;

	gandiva_servers_remove(&self->servers, view_job(view, id), width_of(self, id),
	                       &gandiva_row(&self->rows, row)->gpus);
	gandiva_rows_leave(&self->rows, id);
	mark_stale(self, row);
	gandiva_packing_settle(self, id);
	if (partner != JOB_NONE)
		gandiva_packing_settle(self, partner);
	if (gandiva_row(&self->rows, row)->n_jobs > 0 && !gandiva_row(&self->rows, row)->is_running)
		mark_vacant(self, row);
}

void
gandiva_resettle(Decision *decision, guint32 row, const Alloc *where)
{
	Gandiva *self = decision->self;
	JobId id = gandiva_row(&self->rows, row)->holder;
	const Job *job = view_job(decision->view, id);

	/* In this order a machine that keeps part of the job keeps its affinity (A84). */
	gandiva_servers_add(&self->servers, job, width_of(self, id), where);
	gandiva_servers_remove(&self->servers, job, width_of(self, id),
	                       &gandiva_row(&self->rows, row)->gpus);
	gandiva_rows_set_gpus(&self->rows, row, where);
	gandiva_note_spread(decision, row);
}

gboolean
gandiva_is_ready(const Decision *decision, JobId job)
{
	const Guest *guest = gandiva_guest(decision->self, job);

	if (guest->stopped_in == decision->self->decision)
		return view_overheads(decision->view, job).suspend_ns == 0;
	return view_state(decision->view, job) == JOB_QUEUED;
}

gboolean
gandiva_is_lone(const Gandiva *self, guint32 id)
{
	const Row *row = gandiva_row(&self->rows, id);

	return row->n_jobs == 1 && row->is_running;
}

/* turns */

static gboolean
seat_is_ready(const Decision *decision, JobId lead)
{
	JobId partner = gandiva_guest(decision->self, lead)->partner;

	return gandiva_is_ready(decision, lead) &&
	       (partner == JOB_NONE || gandiva_is_ready(decision, partner));
}

static void
stop(Decision *decision, JobId job)
{
	if (job == JOB_NONE || plan_preempt(decision->plan, job) != PLAN_OK)
		return;
	decision->self->shapes.guests[job].stopped_in = decision->self->decision;
}

/* The next seat that can take the turn; the holder's own if there is no other. */
static JobId
next_seat(const Decision *decision, const Row *row)
{
	JobId seat = gandiva_guest(decision->self, row->holder)->next;

	while (seat != row->holder && !seat_is_ready(decision, seat))
		seat = gandiva_guest(decision->self, seat)->next;
	return seat;
}

/* The holder's turn is over. With suspend_s its GPUs are free later, and its successor is started
 * then (A10). */
static void
hand_over(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;
	Row *row = gandiva_row(&self->rows, id);
	JobId holder = row->holder, next;

	mark_stale(self, id);
	next = next_seat(decision, row);
	if (next == holder) {
		row->turn_ns = decision->now_ns;
		return;
	}
	stop(decision, holder);
	stop(decision, gandiva_guest(self, holder)->partner);
	row->holder = next;
	row->is_running = FALSE;
	gandiva_packing_settle(self, holder);
	mark_vacant(self, id);
}

static void
hand_over_due(Decision *decision)
{
	GArray *due = decision->self->due;

	for (guint i = 0; i < due->len; i++) {
		guint32 id = g_array_index(due, guint32, i);
		const Row *row = gandiva_row(&decision->self->rows, id);

		if (row->is_running && row->n_seats >= 2 && row->wake_ns <= decision->now_ns)
			hand_over(decision, id);
	}
	g_array_set_size(due, 0);
}

static gboolean
start_job(Decision *decision, JobId job, const Alloc *gpus, CrowdRule rule)
{
	return cluster_has_room(decision->cluster, view_job(decision->view, job), gpus, rule) &&
	       plan_place(decision->plan, job, gpus) == PLAN_OK;
}

/* Two that were packed stay so unless something has taken the CPUs or the memory of one. */
static void
start_partner(Decision *decision, guint32 row, JobId lead)
{
	Gandiva *self = decision->self;
	JobId partner = gandiva_guest(self, lead)->partner;

	if (partner == JOB_NONE ||
	    start_job(decision, partner, &gandiva_row(&self->rows, row)->gpus, CROWD_PACKED))
		return;
	gandiva_leave(self, decision->view, partner);
	sit_down(decision, row, partner);
}

static gboolean
start_seat(Decision *decision, guint32 id, JobId lead)
{
	Gandiva *self = decision->self;
	Row *row = gandiva_row(&self->rows, id);

	if (!seat_is_ready(decision, lead) || !start_job(decision, lead, &row->gpus, CROWD_SHARES))
		return FALSE;
	row->holder = lead;
	row->is_running = TRUE;
	row->turn_ns = decision->now_ns;
	start_partner(decision, id, lead);
	if (row->n_seats >= 2)
		g_array_append_val(self->turned, id);
	mark_stale(self, id);
	gandiva_packing_settle(self, lead);
	return TRUE;
}

/* Other rows have taken the CPUs or the memory that each of this one needs: rather than idle, its
 * jobs go back to the queue. */
static void
dissolve(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;

	for (guint n = gandiva_row(&self->rows, id)->n_jobs; n > 0; n--) {
		JobId job = gandiva_row(&self->rows, id)->holder;

		gandiva_leave(self, decision->view, job);
		gandiva_shapes_queue(&self->shapes, job);
		gandiva_packing_settle(self, job);
	}
	self->has_freed = TRUE;
}

/* TRUE if the row is vacant no more. */
static gboolean
fill_vacant(Decision *decision, guint32 id)
{
	Row *row = gandiva_row(&decision->self->rows, id);
	JobId seat = row->holder;

	if (row->n_jobs == 0 || row->is_running)
		return TRUE;
	if (!cluster_gpu_is_free(decision->cluster, row->gpus.gpus[0]))
		return FALSE;
	do {
		if (start_seat(decision, id, seat))
			return TRUE;
		seat = gandiva_guest(decision->self, seat)->next;
	} while (seat != gandiva_row(&decision->self->rows, id)->holder);
	dissolve(decision, id);
	return TRUE;
}

static void
fill_all_vacant(Decision *decision)
{
	GArray *vacant = decision->self->vacant;
	guint n_left = 0;

	for (guint i = 0; i < vacant->len; i++) {
		guint32 row = g_array_index(vacant, guint32, i);

		if (fill_vacant(decision, row))
			gandiva_row(&decision->self->rows, row)->is_vacant = FALSE;
		else
			g_array_index(vacant, guint32, n_left++) = row;
	}
	g_array_set_size(vacant, n_left);
}

/* Whether the only job of a row has just had a turn that nobody waited for. One that this decision
 * has moved cannot be stopped by it too. */
static gboolean
has_had_a_turn(const Decision *decision, const Row *row)
{
	const Gandiva *self = decision->self;
	SimTime had_ns = decision->now_ns - row->turn_ns;

	return row->n_seats == 1 && row->is_running && had_ns > 0 &&
	       had_ns % self->options.quantum_ns == 0 &&
	       gandiva_guest(self, row->holder)->moved_in != self->decision;
}

/* Who comes at the very end of a turn takes part (A14). */
void
gandiva_join(Decision *decision, guint32 id, JobId job)
{
	gboolean is_over = has_had_a_turn(decision, gandiva_row(&decision->self->rows, id));

	sit_down(decision, id, job);
	if (!is_over)
		return;
	hand_over(decision, id);
	fill_vacant(decision, id);
}

/* The end of the present turn. A job that had its GPUs to itself has had one turn after another
 * since it began (A81). */
static SimTime
turn_end_ns(const Decision *decision, const Row *row)
{
	SimTime quantum_ns = decision->self->options.quantum_ns;
	SimTime n_turns = (decision->now_ns - row->turn_ns) / quantum_ns;

	return time_add(row->turn_ns + n_turns * quantum_ns, quantum_ns);
}

static void
set_wake(Decision *decision, guint32 id)
{
	Row *row = gandiva_row(&decision->self->rows, id);
	gboolean wants_wake = row->n_seats >= 2 && row->is_running;
	SimTime at_ns = wants_wake ? turn_end_ns(decision, row) : TIME_NEVER;

	if (row->has_wake && wants_wake && row->wake_ns == at_ns)
		return;
	if (row->has_wake)
		plan_unwake(decision->plan, id);
	row->has_wake = wants_wake;
	row->wake_ns = at_ns;
	if (wants_wake)
		plan_wake(decision->plan, at_ns, id);
}

static void
set_wakes(Decision *decision)
{
	GArray *stale = decision->self->stale;

	for (guint i = 0; i < stale->len; i++) {
		guint32 row = g_array_index(stale, guint32, i);

		gandiva_row(&decision->self->rows, row)->is_stale = FALSE;
		set_wake(decision, row);
	}
	g_array_set_size(stale, 0);
}

/* the contract */

static gboolean
check_quantum(const GandivaOptions *options, const View *view, GError **error)
{
	Overheads overheads = view_largest_overheads(view);
	SimTime least_ns = MAX(overheads.start_ns, overheads.migrate_ns);
	g_autofree char *quantum = seconds_to_string(options->quantum_ns);
	g_autofree char *least = NULL;

	least_ns = MAX(least_ns, time_add(overheads.resume_ns, overheads.suspend_ns));
	if (!options->time_slicing || options->quantum_ns > least_ns)
		return TRUE;
	least = seconds_to_string(least_ns);
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
	            "gandiva: quantum_s is %s, wanted more than start_s, resume_s + suspend_s and "
	            "migrate_s, of which the largest is %s",
	            quantum, least);
	return FALSE;
}

static gboolean
gandiva_init(void *state, const void *options, const View *view, GError **error)
{
	Gandiva *self = state;

	self->options = *(const GandivaOptions *)options;
	if (!check_quantum(&self->options, view, error))
		return FALSE;
	self->spec = view_cluster_spec(view);
	gandiva_shapes_init(&self->shapes, view, (PlacementLevel)self->options.placement.max_level);
	gandiva_servers_init(&self->servers, self->spec);
	gandiva_rows_init(&self->rows, self->spec, self->shapes.guests,
	                  self->options.max_height > 0 ? (guint)self->options.max_height
	                                               : G_MAXUINT);
	self->due = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->vacant = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->stale = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->grown = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->spread = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->turned = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->failed = g_array_new(FALSE, FALSE, sizeof(guint32));
	self->epoch = 1;
	gandiva_packing_init(self, view);
	return TRUE;
}

static void
gandiva_finish(void *state)
{
	Gandiva *self = state;

	if (self->spec == NULL)
		return;
	gandiva_shapes_clear(&self->shapes);
	gandiva_servers_clear(&self->servers);
	gandiva_rows_clear(&self->rows);
	g_array_unref(self->due);
	g_array_unref(self->vacant);
	g_array_unref(self->stale);
	g_array_unref(self->grown);
	g_array_unref(self->spread);
	g_array_unref(self->turned);
	g_array_unref(self->failed);
	gandiva_packing_clear(self);
	alloc_clear(&self->where);
	alloc_clear(&self->other);
}

static gboolean
is_elastic(const Gandiva *self, const Job *job)
{
	return job->max_gpus > width_of(self, job->id);
}

static void
gandiva_arrived(void *state, const View *view, const Job *job)
{
	Gandiva *self = state;
	guint32 shape;

	if (gandiva_shapes_meet(&self->shapes, job, &shape))
		gandiva_packing_meet(self, view, shape);
	self->n_elastic += is_elastic(self, job);
	gandiva_shapes_queue(&self->shapes, job->id);
	gandiva_packing_settle(self, job->id);
}

static void
give_back_share(Gandiva *self, const Job *job)
{
	Guest *guest = &self->shapes.guests[job->id];
	Alloc gpu = { .gpus = &guest->shared_gpu, .n = 1 };

	gandiva_servers_remove(&self->servers, job, 1, &gpu);
	guest->shared_gpu = GUEST_NOWHERE;
}

static void
gandiva_completed(void *state, const View *view, const Job *job)
{
	Gandiva *self = state;
	const Guest *guest = gandiva_guest(self, job->id);

	self->n_elastic -= is_elastic(self, job);
	self->has_freed = TRUE;
	if (guest->row != ROW_NONE) {
		gandiva_leave(self, view, job->id);
	} else if (guest->is_queued) {
		gandiva_shapes_unqueue(&self->shapes, job->id);
		gandiva_packing_settle(self, job->id);
	} else {
		give_back_share(self, job);
	}
}

static void
gandiva_timer(void *state, const View *view, guint64 tag)
{
	Gandiva *self = state;
	guint32 row = (guint32)tag;

	gandiva_row(&self->rows, row)->has_wake = FALSE;
	g_array_append_val(self->due, row);
}

/* Who waits, in the queue or for a turn, and could be elsewhere. */
static void
serve(Decision *decision)
{
	gandiva_serve_queue(decision);
	if (decision->self->options.migration)
		gandiva_refill(decision);
}

/* GPUs fell free, or somebody came. */
static void
rearrange(Decision *decision)
{
	const GandivaOptions *options = &decision->self->options;

	if (decision->self->has_freed)
		gandiva_begin_epoch(decision->self);
	decision->self->has_freed = FALSE;
	serve(decision);
	if (options->migration) {
		gandiva_merge(decision);
		while (options->defragment && gandiva_defragment(decision))
			serve(decision);
	}
	if (options->packing)
		gandiva_pack(decision);
	if (options->packing && options->migration)
		gandiva_part(decision);
	if (options->grow_shrink)
		gandiva_grow(decision);
}

/* A job that was being suspended may move now, and one that took its turn may be packed. */
static void
look_on(Decision *decision)
{
	if (decision->self->options.migration)
		gandiva_refill_from_turned(decision);
	if (decision->self->options.packing)
		gandiva_pack(decision);
}

static void
gandiva_decide(void *state, const View *view, PolicyWake why, Plan *plan)
{
	Gandiva *self = state;
	Decision decision = {
		.self = self,
		.view = view,
		.plan = plan,
		.cluster = view_cluster(view),
		.now_ns = view_now_ns(view),
	};

	self->decision++;
	hand_over_due(&decision);
	fill_all_vacant(&decision);
	if (self->has_freed || (why & ~(POLICY_WAKE_TIMER | POLICY_WAKE_RELEASED)))
		rearrange(&decision);
	else
		look_on(&decision);
	g_array_set_size(self->turned, 0);
	set_wakes(&decision);
}

static const char *const preset_names[] = { "none", "paper", NULL };

static void
gandiva_preset(const void *options, Overheads *overheads)
{
	if (((const GandivaOptions *)options)->preset == 0)
		return;
	overheads->suspend_ns = NS_PER_S;
	overheads->migrate_ns = 2 * NS_PER_S;
}

static PlacementLevel
gandiva_max_level(const void *options)
{
	return (PlacementLevel)((const GandivaOptions *)options)->placement.max_level;
}

#define SWITCH(member, default_value, text)                                                   \
	{                                                                                     \
		.name = #member, .kind = OPTION_BOOL,                                         \
		.offset = G_STRUCT_OFFSET(GandivaOptions, member), .standard = default_value, \
		.help = text                                                                  \
	}

static const Option gandiva_options[] = {
	{ .name = "quantum_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(GandivaOptions, quantum_ns),
	  .standard = "60",
	  .min = 1e-9,
	  .max = 1e9,
	  .help = "how long a turn is where jobs share GPUs by turns" },
	SWITCH(time_slicing, "true", "jobs that find no free GPUs take turns with their like"),
	SWITCH(migration, "true",
	       "jobs move to GPUs that fall free, closer together, and out of "
	       "the way of wider ones"),
	SWITCH(packing, "true",
	       "two jobs run on the same GPUs at once where their models say "
	       "that both together get more done"),
	SWITCH(affinity, "true",
	       "a machine is for jobs of the size of its first one while there "
	       "are others"),
	SWITCH(grow_shrink, "true",
	       "jobs whose max_gpus allows it grow into idle GPUs of their "
	       "machine and give them back on demand"),
	SWITCH(defragment, "true",
	       "the emptiest machine is vacated if a job waits that it would "
	       "hold"),
	{ .name = "max_height",
	  .kind = OPTION_INT,
	  .offset = G_STRUCT_OFFSET(GandivaOptions, max_height),
	  .standard = "0",
	  .min = 0,
	  .max = G_MAXINT32,
	  .help = "most jobs that take turns on the same GPUs; 0 = as many as come" },
	PLACEMENT_OPTION_ROWS(GandivaOptions, placement),
	{ .name = "preset",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(GandivaOptions, preset),
	  .standard = "none",
	  .choices = preset_names,
	  .help = "paper: suspend_s 1 and migrate_s 2, where the run gives no overheads" },
	{ .name = NULL },
};

const PolicyClass gandiva_policy = {
	.abi = POLICY_ABI,
	.name = "gandiva",
	.version = "1",
	.summary = "time-slices and packs jobs of one size, and moves them as GPUs fall free",
	.source = "Xiao et al., Gandiva: Introspective Cluster Scheduling for Deep Learning, "
	          "OSDI'18",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_SHARES,
	.options = gandiva_options,
	.options_size = sizeof(GandivaOptions),
	.state_size = sizeof(Gandiva),
	.init = gandiva_init,
	.arrived = gandiva_arrived,
	.completed = gandiva_completed,
	.timer = gandiva_timer,
	.decide = gandiva_decide,
	.finish = gandiva_finish,
	.preset = gandiva_preset,
	.max_level = gandiva_max_level,
	.idea =
	    "A machine is for jobs of the size of its first one, so that they can take turns: a "
	    "new job goes to free GPUs of such a machine, else to an empty one, else to any that "
	    "has room, else it shares the GPUs of jobs of its size by turns of quantum_s, else it "
	    "waits in the queue. When GPUs fall free, queued jobs come first, then waiting jobs "
	    "of the longest rows move in; jobs that are spread and slower by it come together, "
	    "and a machine at most a quarter full is vacated if somebody waits for it. Two jobs "
	    "run on the same GPUs at once where their models give utilisation and packed speeds "
	    "and the sum of both rates, each over its own alone, is above 1; they part when GPUs "
	    "are free. Jobs with a max_gpus above num_gpus grow into idle GPUs of their machine "
	    "while nobody waits. Gangs wider than a machine share by turns with gangs of their "
	    "width. Not modelled: profiling is free and exact, so that trying a pair and undoing "
	    "it takes no time; suspended jobs take no host memory; jobs of several machines do "
	    "not slow each other down on the network. A gang may wait in the queue for as long "
	    "as smaller jobs keep coming and no machine is for its size; nobody is promised a "
	    "share of the cluster. Jobs with a gpu_share sit together while they fit and take no "
	    "turns. placement= holds for them, for gangs wider than a machine, and for all with "
	    "affinity=false.",
};
