/* SPDX-License-Identifier: MIT */

/*
 * Which server a job belongs to (policies.md 2.6): a new one goes to the server with the least
 * load, and jobs move from the server with the most to that with the least while the gap is wide.
 * The load of a server is what its jobs can claim, by their tickets, over its GPUs.
 */

#include "policies/gandiva_fair/state.h"

/* GPUs on one machine */

static gboolean
is_on(const Alloc *gpus, const Machine *machine)
{
	return gpus->n > 0 && gpus->gpus[0] >= machine->first_gpu &&
	       gpus->gpus[gpus->n - 1] < machine->first_gpu + machine->n_gpus;
}

/* Those of last time, if it may have them. */
static gboolean
find_again(const Cluster *cluster, const View *view, const Job *job, const Machine *machine,
           Alloc *ret_where)
{
	const Alloc *now = view_alloc(view, job->id);
	const Alloc *last = now->n > 0 ? now : view_last_alloc(view, job->id);

	if (last->n != job->num_gpus || !is_on(last, machine) ||
	    !cluster_has_room(cluster, job, last, CROWD_SHARES))
		return FALSE;
	alloc_copy(ret_where, last);
	return TRUE;
}

/* The fullest GPU that has room for a part of one. */
static gboolean
find_part(const Cluster *cluster, const Job *job, const Machine *machine, Alloc *ret_where)
{
	guint32 best = FAIR_NOWHERE;

	for (guint32 gpu = machine->first_gpu; gpu < machine->first_gpu + machine->n_gpus; gpu++) {
		Alloc one = { .gpus = &gpu, .n = 1 };

		if (cluster_has_room(cluster, job, &one, CROWD_SHARES) &&
		    (best == FAIR_NOWHERE ||
		     cluster->gpus[gpu].held_milli > cluster->gpus[best].held_milli))
			best = gpu;
	}
	alloc_reset(ret_where);
	if (best != FAIR_NOWHERE)
		alloc_add(ret_where, best);
	return best != FAIR_NOWHERE;
}

static guint
n_free_between(const Cluster *cluster, guint32 from, guint32 end)
{
	guint n = 0;

	for (guint32 gpu = from; gpu < end; gpu++)
		n += cluster_gpu_is_free(cluster, gpu);
	return n;
}

/* Free ones of [@from, @end), at first those on which nobody is at present, who might stay. */
static void
take_between(const Cluster *cluster, const View *view, guint32 from, guint32 end, guint n,
             Alloc *ret_where)
{
	alloc_reset(ret_where);
	for (guint run = 0; run < 2; run++)
		for (guint32 gpu = from; gpu < end && ret_where->n < n; gpu++)
			if (cluster_gpu_is_free(cluster, gpu) &&
			    cluster_gpu_is_free(view_cluster(view), gpu) == (run == 0))
				alloc_add(ret_where, gpu);
}

/* In the slot with the fewest free GPUs that suffice, else all over the machine. */
static gboolean
find_whole(const Fair *fair, const Cluster *cluster, const View *view, const Job *job,
           const Machine *machine, Alloc *ret_where)
{
	guint32 from = machine->first_gpu, end = machine->first_gpu + machine->n_gpus;
	guint least = G_MAXUINT;

	for (guint32 slot = machine->first_gpu; slot < machine->first_gpu + machine->n_gpus;
	     slot += machine->slot_gpus) {
		guint32 slot_end =
		    MIN(slot + machine->slot_gpus, machine->first_gpu + machine->n_gpus);
		guint n_free = n_free_between(cluster, slot, slot_end);

		if (n_free < job->num_gpus || n_free >= least)
			continue;
		least = n_free;
		from = slot;
		end = slot_end;
	}
	if (least == G_MAXUINT && fair->options.placement.max_level == LEVEL_SLOT)
		return FALSE;
	take_between(cluster, view, from, end, job->num_gpus, ret_where);
	return ret_where->n == job->num_gpus && cluster_alloc_is_sane(fair->spec, job, ret_where) &&
	       cluster_has_room(cluster, job, ret_where, CROWD_SHARES);
}

gboolean
fair_server_find(const Fair *fair, const Cluster *cluster, const View *view, const Job *job,
                 guint32 server, Alloc *ret_where)
{
	const Machine *machine = &fair->spec->machines[server];

	if (find_again(cluster, view, job, machine, ret_where))
		return TRUE;
	if (cluster_machine_room(cluster, server, job) < job->num_gpus)
		return FALSE;
	if (job->share_milli < GPU_MILLI)
		return find_part(cluster, job, machine, ret_where);
	return find_whole(fair, cluster, view, job, machine, ret_where);
}

/* belonging */

static gboolean
could_hold(Fair *fair, const View *view, const Job *job, guint32 server)
{
	return fair->spec->machines[server].n_gpus >= job->num_gpus &&
	       fair_server_find(fair, fair->empty, view, job, server, &fair->where);
}

void
fair_servers_judge(Fair *fair, const View *view, const Job *job)
{
	FairJob *own = &fair->jobs[job->id];
	guint64 will_do = 0;

	own->types = 0;
	for (guint type = 0; type < fair->spec->n_types; type++)
		if (placement_type_will_do(view, job, type))
			will_do |= G_GUINT64_CONSTANT(1) << type;
	for (guint32 i = 0; i < fair->spec->n_machines && own->types != will_do; i++) {
		guint64 type = G_GUINT64_CONSTANT(1) << fair_type_of(fair, i);

		if ((will_do & ~own->types & type) != 0 && could_hold(fair, view, job, i))
			own->types |= type;
	}
	own->is_wide = own->types == 0;
	if (own->is_wide)
		own->types = will_do;
}

static void
book(Fair *fair, const Job *job, int sign)
{
	const FairJob *own = &fair->jobs[job->id];
	FairStake *stake = &fair_user(fair, own->user)->stakes[fair_type_of(fair, own->server)];

	stake->n_jobs += sign;
	stake->asked = stake->n_jobs > 0 ? stake->asked + sign * fair_gang(job) : 0;
	fair->servers[own->server].claims += sign * own->claim;
}

static void
join(Fair *fair, const Job *job, guint32 index)
{
	FairJob *own = &fair->jobs[job->id];
	FairServer *server = &fair->servers[index];

	if (server->jobs->len == 0)
		server->pass = MAX(server->pass, fair_turns_least_central(fair));
	own->pass += fair_turns_least(fair, index);
	own->server = index;
	g_array_append_val(server->jobs, job->id);
	book(fair, job, 1);
}

static void
remove_job(GArray *jobs, JobId job)
{
	guint i = 0;

	while (g_array_index(jobs, JobId, i) != job)
		i++;
	g_array_remove_index_fast(jobs, i);
}

void
fair_servers_leave(Fair *fair, const Job *job)
{
	FairJob *own = &fair->jobs[job->id];

	if (own->is_wide) {
		own->pass -= fair_turns_least_central(fair);
		remove_job(fair->wide, job->id);
	} else if (own->server != FAIR_NOWHERE) {
		own->pass -= fair_turns_least(fair, own->server);
		book(fair, job, -1);
		remove_job(fair->servers[own->server].jobs, job->id);
		own->server = FAIR_NOWHERE;
	}
}

static double
load_of(const Fair *fair, guint32 server)
{
	return fair->servers[server].claims / fair->spec->machines[server].n_gpus;
}

/* Of the servers of @type that could hold the job that with the least load. */
static guint32
least_loaded(Fair *fair, const View *view, const Job *job, guint type)
{
	guint32 best = FAIR_NOWHERE;
	gint64 least = 0;

	for (guint32 i = 0; i < fair->spec->n_machines; i++) {
		gint64 rank = score_rank_of(load_of(fair, i));

		if (fair_type_of(fair, i) != type || (best != FAIR_NOWHERE && rank >= least) ||
		    !could_hold(fair, view, job, i))
			continue;
		best = i;
		least = rank;
	}
	return best;
}

static void
admit(Fair *fair, const View *view, const Job *job)
{
	FairJob *own = &fair->jobs[job->id];
	double gain;

	if (own->is_wide) {
		own->pass += fair_turns_least_central(fair);
		g_array_append_val(fair->wide, job->id);
		return;
	}
	join(fair, job,
	     least_loaded(fair, view, job, fair_shares_pick_type(fair, view, job, &gain)));
}

static gboolean
is_admitted(const Fair *fair, JobId job)
{
	if (!fair->jobs[job].is_wide)
		return fair->jobs[job].server != FAIR_NOWHERE;
	for (guint i = 0; i < fair->wide->len; i++)
		if (g_array_index(fair->wide, JobId, i) == job)
			return TRUE;
	return FALSE;
}

void
fair_servers_admit(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++) {
		JobId job = g_array_index(fair->active, JobId, i);

		if (!is_admitted(fair, job))
			admit(fair, view, view_job(view, job));
	}
}

void
fair_servers_weigh(Fair *fair)
{
	for (guint32 i = 0; i < fair->spec->n_machines; i++)
		fair->servers[i].claims = 0;
	for (guint i = 0; i < fair->active->len; i++) {
		const FairJob *job = &fair->jobs[g_array_index(fair->active, JobId, i)];

		if (job->server != FAIR_NOWHERE)
			fair->servers[job->server].claims += job->claim;
	}
}

/* moving */

static void
move(Fair *fair, const Job *job, guint32 to)
{
	FairJob *own = &fair->jobs[job->id];

	if (own->seat.n > 0)
		cluster_give(fair->room, job, &own->seat);
	alloc_reset(&own->seat);
	fair_servers_leave(fair, job);
	join(fair, job, to);
	fair->n_rebalanced++;
}

static gboolean
has_waiting(const Fair *fair, guint32 server)
{
	const GArray *jobs = fair->servers[server].jobs;

	for (guint i = 0; i < jobs->len; i++)
		if (fair_waits(fair, g_array_index(jobs, JobId, i)))
			return TRUE;
	return FALSE;
}

/* Whether something is won by the job's move to @type: speed, or room for others. */
static gboolean
is_worth_it(const Fair *fair, const View *view, const Job *job, guint type)
{
	guint32 home = fair->jobs[job->id].server;
	const ModelTable *models = view_models(view);

	return has_waiting(fair, home) ||
	       speed_type_ppb(models, fair->spec, job, type) >
	           speed_type_ppb(models, fair->spec, job, fair_type_of(fair, home));
}

/* Each job once, to where its user has a better use for it. */
static void
change_types(Fair *fair, const View *view, gboolean is_due)
{
	for (guint i = 0; i < fair->active->len; i++) {
		const Job *job = view_job(view, g_array_index(fair->active, JobId, i));
		const FairJob *own = &fair->jobs[job->id];
		double gain;
		guint type;

		if (own->is_wide || !(is_due || fair_waits(fair, job->id)))
			continue;
		type = fair_shares_pick_type(fair, view, job, &gain);
		if (type != fair_type_of(fair, own->server) && gain > fair->options.balance_gap &&
		    is_worth_it(fair, view, job, type))
			move(fair, job, least_loaded(fair, view, job, type));
	}
}

/* The server of @type with the most load of those where somebody waits (@sign 1), or that with the
 * least (@sign -1). */
static guint32
extreme(const Fair *fair, guint type, int sign)
{
	guint32 best = FAIR_NOWHERE;
	gint64 most = 0;

	for (guint32 i = 0; i < fair->spec->n_machines; i++) {
		gint64 rank = score_rank_of(load_of(fair, i));

		if (fair_type_of(fair, i) != type || (sign > 0 && !has_waiting(fair, i)))
			continue;
		if (best != FAIR_NOWHERE && (sign > 0 ? rank <= most : rank >= most))
			continue;
		best = i;
		most = rank;
	}
	return best;
}

/* The larger of both loads once @job has moved. */
static double
load_after(const Fair *fair, JobId job, guint32 from, guint32 to)
{
	double claim = fair->jobs[job].claim;
	const Machine *machines = fair->spec->machines;

	return MAX((fair->servers[from].claims - claim) / machines[from].n_gpus,
	           (fair->servers[to].claims + claim) / machines[to].n_gpus);
}

/* Whether to move @one rather than @other: it evens out more, or waits, or came first. */
static gboolean
is_better_move(const Fair *fair, JobId one, JobId other, guint32 from, guint32 to)
{
	gint64 one_rank = score_rank_of(load_after(fair, one, from, to));
	gint64 other_rank = score_rank_of(load_after(fair, other, from, to));

	if (one_rank != other_rank)
		return one_rank < other_rank;
	if (fair_waits(fair, one) != fair_waits(fair, other))
		return fair_waits(fair, one);
	return one < other;
}

/* The job whose move evens out the loads most; JOB_NONE if none does. */
static JobId
pick_move(Fair *fair, const View *view, guint32 from, guint32 to, gboolean is_due)
{
	const GArray *jobs = fair->servers[from].jobs;
	gint64 now = score_rank_of(load_of(fair, from));
	JobId best = JOB_NONE;

	for (guint i = 0; i < jobs->len; i++) {
		JobId job = g_array_index(jobs, JobId, i);

		if (!(is_due || fair_waits(fair, job)) ||
		    score_rank_of(load_after(fair, job, from, to)) >= now ||
		    (best != JOB_NONE && !is_better_move(fair, job, best, from, to)) ||
		    !could_hold(fair, view, view_job(view, job), to))
			continue;
		best = job;
	}
	return best;
}

static void
even_out(Fair *fair, const View *view, guint type, gboolean is_due)
{
	/* Each move lowers the larger of two loads, but rounded; no more moves than jobs. */
	for (guint n = 0; n < fair->active->len; n++) {
		guint32 from = extreme(fair, type, 1), to = extreme(fair, type, -1);
		JobId job;

		if (from == FAIR_NOWHERE ||
		    load_of(fair, from) - load_of(fair, to) <= fair->options.balance_gap)
			return;
		job = pick_move(fair, view, from, to, is_due);
		if (job == JOB_NONE)
			return;
		move(fair, view_job(view, job), to);
	}
}

void
fair_servers_balance(Fair *fair, const View *view, gboolean is_due)
{
	if (fair->spec->n_types > 1)
		change_types(fair, view, is_due);
	for (guint type = 0; type < fair->spec->n_types; type++)
		even_out(fair, view, type, is_due);
}
