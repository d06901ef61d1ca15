/* SPDX-License-Identifier: MIT */

/*
 * Gandiva_fair (policies.md 2.6): users have tickets, and their jobs take turns by them, quantum by
 * quantum. The order of a decision: what was used is paid for, shares are divided where jobs have
 * come or gone, new jobs get a server, GPUs that are free go to who waits, jobs move to less loaded
 * servers, and at the begin of a quantum all GPUs are given out anew.
 */

#include "policies/gandiva_fair/state.h"

#include <string.h>

#define TAG_QUANTUM 0

static JobId
active_at(const Fair *fair, guint index)
{
	return g_array_index(fair->active, JobId, index);
}

/* who has tickets */

static char *
name_of(const Fair *fair, const View *view, const Job *job)
{
	switch ((FairBy)fair->options.by) {
	case FAIR_BY_USER:
		return g_strdup(job->user);
	case FAIR_BY_TENANT:
		return g_strdup(job->tenant);
	case FAIR_BY_APP:
		return g_strdup(view_app(view, job->app)->name);
	}
	g_assert_not_reached();
}

static guint
find_user(Fair *fair, const View *view, const Job *job)
{
	g_autofree char *name = name_of(fair, view, job);
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(fair->by_name, name));
	const double *given = g_hash_table_lookup(fair->given_tickets, name);
	FairUser new = { .tickets = given != NULL ? *given : job->weight };

	if (found > 0)
		return found - 1;
	new.stakes = g_new0(FairStake, fair->spec->n_types);
	g_array_append_val(fair->users, new);
	g_hash_table_insert(fair->by_name, g_steal_pointer(&name),
	                    GUINT_TO_POINTER(fair->users->len));
	return fair->users->len - 1;
}

/* One `name=tickets` of the option. */
static gboolean
add_tickets(Fair *fair, char *item, GError **error)
{
	char *equals = strrchr(item, '=');
	double tickets = 0;

	if (equals != NULL)
		*equals = '\0';
	if (equals == NULL || !decimal_parse_double(equals + 1, &tickets) || tickets < 1e-6 ||
	    tickets > 1e6) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "tickets: found \"%s\", wanted NAME=NUMBER from 1e-6 to 1e6, as in "
		            "[alice=2,bob=1]",
		            equals != NULL ? equals + 1 : item);
		return FALSE;
	}
	if (g_hash_table_contains(fair->given_tickets, item)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "tickets: found \"%s\" twice, wanted one number a name", item);
		return FALSE;
	}
	g_hash_table_insert(fair->given_tickets, g_strdup(item),
	                    g_memdup2(&tickets, sizeof(tickets)));
	return TRUE;
}

static gboolean
read_tickets(Fair *fair, GError **error)
{
	const char *text = fair->options.tickets;
	gsize length = strlen(text);
	gboolean has_brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
	g_autofree char *bare = g_strndup(text + has_brackets, length - 2 * has_brackets);
	g_auto(GStrv) items = NULL;

	if (strcmp(text, "weight") == 0)
		return TRUE;
	items = g_strsplit(bare, ",", 0);
	for (guint i = 0; items[i] != NULL; i++)
		if (!add_tickets(fair, g_strstrip(items[i]), error))
			return FALSE;
	return TRUE;
}

/* notes */

static guint
find_active(const Fair *fair, JobId job)
{
	guint i = fair->active->len;

	while (i > 0 && active_at(fair, i - 1) >= job)
		i--;
	return i;
}

static void
fair_arrived(void *self, const View *view, const Job *job)
{
	Fair *fair = self;
	FairJob *own = &fair->jobs[job->id];

	if (own->types == 0) {
		own->user = find_user(fair, view, job);
		own->server = FAIR_NOWHERE;
		fair_servers_judge(fair, view, job);
	}
	own->charged_service = view_attained_service(view, job->id);
	own->charged_ns = view_attained_ns(view, job->id);
	g_array_insert_val(fair->active, find_active(fair, job->id), job->id);
	fair_shares_meet(fair, view, job);
	fair->is_changed = fair->is_unsettled = TRUE;
}

static void
unseat(Fair *fair, const Job *job)
{
	Alloc *seat = &fair->jobs[job->id].seat;

	if (seat->n > 0)
		cluster_give(fair->room, job, seat);
	alloc_reset(seat);
}

static void
fair_completed(void *self, const View *view, const Job *job)
{
	Fair *fair = self;

	fair_turns_charge_job(fair, view, job->id);
	unseat(fair, job);
	fair_servers_leave(fair, job);
	fair_shares_part(fair, view, job);
	g_array_remove_index(fair->active, find_active(fair, job->id));
	fair->is_changed = fair->is_unsettled = TRUE;
}

/* seats */

/* GPUs of the room for a job of several machines, those it has or had if they can be had. */
static gboolean
find_wide(const Fair *fair, const View *view, const Job *job, Alloc *ret_where)
{
	const Alloc *now = view_alloc(view, job->id);
	const Alloc *last = now->n > 0 ? now : view_last_alloc(view, job->id);

	if (last->n == job->num_gpus && cluster_has_room(fair->room, job, last, CROWD_SHARES)) {
		alloc_copy(ret_where, last);
		return TRUE;
	}
	return placement_find_on(fair->room, view, job, job->num_gpus, &fair->options.placement,
	                         ret_where);
}

static gboolean
find_seat(Fair *fair, const View *view, const Job *job, Alloc *ret_where)
{
	const FairJob *own = &fair->jobs[job->id];
	gboolean has_found =
	    own->is_wide ? find_wide(fair, view, job, ret_where)
	                 : fair_server_find(fair, fair->room, view, job, own->server, ret_where);

	if (has_found)
		cluster_take(fair->room, job, ret_where);
	else
		alloc_reset(ret_where);
	return has_found;
}

/* Who waits gets what it can, in the order of turns. */
static void
fill(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->order->len; i++) {
		JobId job = g_array_index(fair->order, JobId, i);

		if (fair_waits(fair, job))
			find_seat(fair, view, view_job(view, job), &fair->jobs[job].seat);
	}
}

/* The GPUs it is on now, if they will do for this quantum, too. */
static const Alloc *
gpus_to_keep(const Fair *fair, const View *view, JobId job)
{
	const FairJob *own = &fair->jobs[job];
	const Alloc *now = view_alloc(view, job);

	if (view_state(view, job) != JOB_RUNNING || now->n == 0 || own->seat.n == 0)
		return NULL;
	if (!own->is_wide && fair->spec->machine_of[now->gpus[0]] != own->server)
		return NULL;
	return now;
}

/* Whether somebody could stay on its GPUs and is not to. */
static gboolean
moves_needlessly(const Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++) {
		JobId job = active_at(fair, i);
		const Alloc *keeps = gpus_to_keep(fair, view, job);

		if (keeps != NULL && !alloc_equal(keeps, &fair->jobs[job].seat))
			return TRUE;
	}
	return FALSE;
}

/* Of those who have a seat who can stay on its GPUs does, and the others sit around them; FALSE if
 * they find no room so. */
static gboolean
sit_again(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->order->len; i++) {
		const Job *job = view_job(view, g_array_index(fair->order, JobId, i));
		const Alloc *keeps = gpus_to_keep(fair, view, job->id);
		Alloc *kept = &fair->jobs[job->id].kept;

		alloc_reset(kept);
		if (keeps == NULL || !cluster_has_room(fair->room, job, keeps, CROWD_SHARES))
			continue;
		alloc_copy(kept, keeps);
		cluster_take(fair->room, job, kept);
	}
	for (guint i = 0; i < fair->order->len; i++) {
		JobId job = g_array_index(fair->order, JobId, i);
		FairJob *own = &fair->jobs[job];

		if (own->seat.n > 0 && own->kept.n == 0 &&
		    !find_seat(fair, view, view_job(view, job), &own->kept))
			return FALSE;
	}
	return TRUE;
}

static void
give_back_seats(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++) {
		JobId job = active_at(fair, i);

		if (fair->jobs[job].seat.n > 0)
			cluster_give(fair->room, view_job(view, job), &fair->jobs[job].seat);
	}
}

static void
stay_where_possible(Fair *fair, const View *view)
{
	gboolean has_room;

	give_back_seats(fair, view);
	has_room = sit_again(fair, view);
	for (guint i = 0; i < fair->active->len; i++) {
		FairJob *own = &fair->jobs[active_at(fair, i)];

		if (has_room)
			alloc_swap(&own->seat, &own->kept);
		else if (own->kept.n > 0)
			cluster_give(fair->room, view_job(view, active_at(fair, i)), &own->kept);
	}
	for (guint i = 0; i < fair->active->len && !has_room; i++) {
		JobId job = active_at(fair, i);

		if (fair->jobs[job].seat.n > 0)
			cluster_take(fair->room, view_job(view, job), &fair->jobs[job].seat);
	}
}

/* All GPUs are given out anew: who sits is a matter of turns alone, where is not. */
static void
seat_all(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++)
		unseat(fair, view_job(view, active_at(fair, i)));
	fill(fair, view);
	if (moves_needlessly(fair, view))
		stay_where_possible(fair, view);
}

/* the plan */

static void
stop_others(const Fair *fair, const View *view, Plan *plan)
{
	for (guint i = 0; i < fair->active->len; i++) {
		JobId job = active_at(fair, i);

		if (view_state(view, job) == JOB_RUNNING &&
		    !alloc_equal(view_alloc(view, job), &fair->jobs[job].seat))
			plan_preempt(plan, job);
	}
}

/* Those whose GPUs are being released still are started when they are free. */
static void
start_seated(const Fair *fair, const View *view, Plan *plan)
{
	for (guint i = 0; i < fair->active->len; i++) {
		JobId job = active_at(fair, i);
		const Alloc *seat = &fair->jobs[job].seat;

		if (seat->n > 0 && view_state(view, job) != JOB_SUSPENDING &&
		    view_alloc(view, job)->n == 0 &&
		    cluster_has_room(view_cluster(view), view_job(view, job), seat, CROWD_SHARES))
			plan_place(plan, job, seat);
	}
}

static guint
n_seated(const Fair *fair)
{
	guint n = 0;

	for (guint i = 0; i < fair->active->len; i++)
		n += !fair_waits(fair, active_at(fair, i));
	return n;
}

/* Quanta begin anew when somebody comes and nobody is there. */
static gboolean
begins_quantum(Fair *fair, const View *view)
{
	SimTime now_ns = view_now_ns(view);

	if (fair->active->len > 0 && n_seated(fair) == 0)
		fair->base_ns = now_ns;
	return (now_ns - fair->base_ns) % fair->options.quantum_ns == 0;
}

static void
set_wake(const Fair *fair, const View *view, Plan *plan)
{
	SimTime length_ns = fair->options.quantum_ns;
	SimTime into_ns = (view_now_ns(view) - fair->base_ns) % length_ns;
	gboolean may_move = fair->is_unsettled && fair->spec->n_types > 1;

	if (fair->active->len > 0 && (n_seated(fair) < fair->active->len || may_move))
		plan_wake(plan, time_add(view_now_ns(view), length_ns - into_ns), TAG_QUANTUM);
}

static void
take_stock(Fair *fair, const View *view)
{
	fair_shares_divide(fair, view);
	fair_servers_weigh(fair);
	fair_servers_admit(fair, view);
	fair->is_changed = FALSE;
}

static void
fair_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Fair *fair = self;
	gboolean is_due;

	fair_turns_charge(fair, view);
	is_due = begins_quantum(fair, view);
	if (is_due)
		fair_turns_forgive(fair, view);
	if (fair->is_changed)
		take_stock(fair, view);
	fair_turns_sort(fair);
	fill(fair, view);
	fair_servers_balance(fair, view, is_due);
	fair_shares_issue(fair);
	fair_turns_sort(fair);
	if (is_due)
		seat_all(fair, view);
	else
		fill(fair, view);
	fair->is_unsettled &= !is_due;
	stop_others(fair, view, plan);
	start_seated(fair, view, plan);
	set_wake(fair, view, plan);
}

/* the contract */

static gboolean
fair_init(void *self, const void *options, const View *view, GError **error)
{
	Fair *fair = self;

	fair->options = *(const FairOptions *)options;
	fair->given_tickets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	if (!rounds_check_length(view, "quantum_s", fair->options.quantum_ns, error) ||
	    !read_tickets(fair, error))
		return FALSE;
	fair->spec = view_cluster_spec(view);
	fair->empty = cluster_new(fair->spec);
	fair->room = cluster_new(fair->spec);
	fair->users = g_array_new(FALSE, FALSE, sizeof(FairUser));
	fair->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	fair->n_jobs = view_n_jobs(view);
	fair->jobs = g_new0(FairJob, fair->n_jobs);
	fair->servers = g_new0(FairServer, fair->spec->n_machines);
	for (guint i = 0; i < fair->spec->n_machines; i++)
		fair->servers[i].jobs = g_array_new(FALSE, FALSE, sizeof(JobId));
	fair->active = g_array_new(FALSE, FALSE, sizeof(JobId));
	fair->wide = g_array_new(FALSE, FALSE, sizeof(JobId));
	fair->order = g_array_new(FALSE, FALSE, sizeof(JobId));
	fair->turns = fair_turns_new();
	fair->central = fair_turns_new();
	fair->types = g_new0(guint, fair->spec->n_types);
	return TRUE;
}

static void
free_users(Fair *fair)
{
	for (guint i = 0; i < fair->users->len; i++)
		g_free(fair_user(fair, i)->stakes);
	g_array_unref(fair->users);
}

static void
fair_finish(void *self)
{
	Fair *fair = self;

	g_clear_pointer(&fair->given_tickets, g_hash_table_unref);
	if (fair->spec == NULL)
		return;
	free_users(fair);
	g_hash_table_unref(fair->by_name);
	cluster_free(fair->empty);
	cluster_free(fair->room);
	for (guint i = 0; i < fair->n_jobs; i++) {
		alloc_clear(&fair->jobs[i].seat);
		alloc_clear(&fair->jobs[i].kept);
	}
	g_free(fair->jobs);
	for (guint i = 0; i < fair->spec->n_machines; i++)
		g_array_unref(fair->servers[i].jobs);
	g_free(fair->servers);
	g_array_unref(fair->active);
	g_array_unref(fair->wide);
	g_array_unref(fair->order);
	g_array_unref(fair->turns);
	g_array_unref(fair->central);
	g_free(fair->types);
	alloc_clear(&fair->where);
}

static PlacementLevel
fair_max_level(const void *options)
{
	return (PlacementLevel)((const FairOptions *)options)->placement.max_level;
}

static guint
fair_counters(const void *self, PolicyCounter *ret_counters)
{
	const Fair *fair = self;

	ret_counters[0] = (PolicyCounter){ "jobs_rebalanced", fair->n_rebalanced };
	ret_counters[1] = (PolicyCounter){ "trades", fair->n_trades };
	return 2;
}

static const char *const by_names[] = { "user", "tenant", "app", NULL };
static const char *const stride_names[] = { "gang", "plain", NULL };
static const char *const price_names[] = { "second", "middle", NULL };

static const Option fair_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FairOptions, by),
	  .standard = "user",
	  .choices = by_names,
	  .help = "who has tickets" },
	{ .name = "tickets",
	  .kind = OPTION_TEXT,
	  .offset = G_STRUCT_OFFSET(FairOptions, tickets),
	  .standard = "weight",
	  .help = "how many, as in [alice=2,bob=1]; who is not named, and with weight everybody, "
	          "has the weight of its first job" },
	{ .name = "quantum_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(FairOptions, quantum_ns),
	  .standard = "60",
	  .min = 1e-9,
	  .max = 1e9,
	  .help = "all GPUs are given out anew that often; longer than any overhead" },
	{ .name = "stride",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FairOptions, stride),
	  .standard = "gang",
	  .choices = stride_names,
	  .help = "what a quantum costs: gang its GPUs / tickets, plain 1 / tickets, however wide "
	          "the job is" },
	{ .name = "balance_gap",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(FairOptions, balance_gap),
	  .standard = "0.1",
	  .min = 0,
	  .max = 1e6,
	  .may_be_off = TRUE,
	  .help = "jobs move from the most to the least loaded server while their loads, in GPUs "
	          "claimed by GPU, are further apart" },
	{ .name = "trading",
	  .kind = OPTION_BOOL,
	  .offset = G_STRUCT_OFFSET(FairOptions, trading),
	  .standard = "true",
	  .help = "whether users trade their shares of one GPU type for those of another" },
	{ .name = "price",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FairOptions, price),
	  .standard = "second",
	  .choices = price_names,
	  .help = "of a GPU in GPUs of the slower type: second is the speed-up of the next best "
	          "buyer, or of the seller if there is none; middle is halfway between those of "
	          "buyer and seller" },
	PLACEMENT_OPTION_ROWS(FairOptions, placement),
	{ .name = NULL },
};

const PolicyClass gandiva_fair_policy = {
	.abi = POLICY_ABI,
	.name = "gandiva-fair",
	.version = "1",
	.summary =
	    "shares of users by tickets: gangs take turns, servers are balanced, users trade",
	.source = "Chaudhary et al., Balancing efficiency and fairness in heterogeneous GPU "
	          "clusters for deep learning, EuroSys'20",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = fair_options,
	.options_size = sizeof(FairOptions),
	.state_size = sizeof(Fair),
	.init = fair_init,
	.arrived = fair_arrived,
	.completed = fair_completed,
	.decide = fair_decide,
	.finish = fair_finish,
	.max_level = fair_max_level,
	.counters = fair_counters,
	.idea =
	    "A user's tickets are split evenly over its jobs. A job belongs to a server, the least "
	    "loaded when it came, and there all jobs take turns by stride scheduling: after a "
	    "quantum on k GPUs a job's pass is k / tickets higher, and whoever has the lowest goes "
	    "first. A job that does not fit keeps its pass and so comes first before long; "
	    "until then its server may have idle GPUs that no other gang fits into. Gangs wider "
	    "than any server are in line with the servers as wholes, which have the tickets of "
	    "their jobs. GPUs that fall idle within a quantum are given out at once, and nobody is "
	    "stopped before its end. What a user cannot use of its share goes to the others: a "
	    "job is never behind the first that waits by more than the longest stride of its "
	    "server. Loads count a job's part of its user's share, at most its gang; jobs that "
	    "wait move at once, those that run at the end of a quantum, and only where somebody "
	    "waits. Of several GPU types each is shared out by itself. A user whose jobs gain most "
	    "from the faster of two types buys of it from the one whose jobs gain least, and both "
	    "get at least as much work done. The part of a share that is for jobs which need "
	    "one of the types, or several servers, is not for sale. Speeds are taken as known. "
	    "placement= holds for gangs "
	    "wider than a server.",
};
