/* SPDX-License-Identifier: MIT */

#include "policies/themis/agents.h"
#include "policies/themis/rates.h"

#define UNKNOWN G_MAXUINT32

Agents *
agents_new(const View *view, const ThemisOptions *options)
{
	Agents *agents = g_new0(Agents, 1);

	agents->options = options;
	agents->n_agents = options->unit == UNIT_JOB ? view_n_jobs(view) : view_n_apps(view);
	agents->n_jobs = view_n_jobs(view);
	agents->agents = g_new0(Agent, agents->n_agents);
	agents->jobs = g_new0(AgentJob, agents->n_jobs);
	agents->wanting = g_array_new(FALSE, FALSE, sizeof(AgentId));
	agents->tuned = g_array_new(FALSE, FALSE, sizeof(AgentId));
	agents->leaving = g_array_new(FALSE, FALSE, sizeof(JobId));
	agents->returning = g_array_new(FALSE, FALSE, sizeof(AgentId));
	return agents;
}

static void
agent_clear(Agent *agent)
{
	if (!agent->is_known)
		return;
	g_array_unref(agent->queued);
	g_array_unref(agent->running);
}

void
agents_free(Agents *agents)
{
	if (agents == NULL)
		return;
	for (guint i = 0; i < agents->n_agents; i++)
		agent_clear(&agents->agents[i]);
	for (guint i = 0; i < agents->n_jobs; i++)
		alloc_clear(&agents->jobs[i].gpus);
	g_free(agents->agents);
	g_free(agents->jobs);
	g_array_unref(agents->wanting);
	g_array_unref(agents->leaving);
	g_array_unref(agents->tuned);
	g_array_unref(agents->returning);
	g_free(agents);
}

/* wanting */

static void
want(Agents *agents, Agent *agent)
{
	g_array_append_val(agents->wanting, agent->id);
	agent->wanting_at = agents->wanting->len;
}

static void
unwant(Agents *agents, Agent *agent)
{
	AgentId last = g_array_index(agents->wanting, AgentId, agents->wanting->len - 1);

	g_array_index(agents->wanting, AgentId, agent->wanting_at - 1) = last;
	agents->agents[last].wanting_at = agent->wanting_at;
	g_array_set_size(agents->wanting, agents->wanting->len - 1);
	agent->wanting_at = 0;
}

static void
settle_wanting(Agents *agents, Agent *agent)
{
	gboolean is_wanting = agent->queued->len > 0 || agent->n_growing > 0;

	if (is_wanting && agent->wanting_at == 0)
		want(agents, agent);
	else if (!is_wanting && agent->wanting_at > 0)
		unwant(agents, agent);
}

/* jobs */

static GpuTime
work_left(const View *view, const Job *job)
{
	SimWork left_ns = 0;

	view_remaining_ns(view, job->id, &left_ns);
	return (GpuTime)left_ns * job_held_milli(job, job->num_gpus);
}

/* The widths that the job may have: multiples of a step, where it can keep to that. */
static void
set_widths(const ThemisOptions *options, const View *view, const Job *job, AgentJob *own)
{
	guint32 step = job->workers > 0 ? job->gpus_per_worker : (guint32)options->gang;
	guint32 min_gpus = (job->min_gpus + step - 1) / step * step;
	guint32 max_gpus = view_max_gpus(view, job->id) / step * step;

	own->step_gpus = step;
	own->min_gpus = min_gpus;
	own->max_gpus = max_gpus;
	if (job_is_rigid(job) || min_gpus > max_gpus)
		own->min_gpus = own->max_gpus = own->step_gpus = job->num_gpus;
}

static gboolean
can_grow(const AgentJob *own)
{
	return own->gpus.n + own->step_gpus <= own->max_gpus;
}

/* The place of @job in @queued, or where it would be. */
static guint
queue_place(const GArray *queued, JobId job)
{
	guint low = 0, high = queued->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(queued, JobId, middle) < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
enqueue(Agents *agents, Agent *agent, JobId job)
{
	AgentJob *own = agents_job(agents, job);

	own->footing = FOOTING_QUEUED;
	g_array_insert_val(agent->queued, queue_place(agent->queued, job), job);
	if (agent->least_queued != UNKNOWN || agent->queued->len == 1)
		agent->least_queued = agent->queued->len == 1
		                          ? own->min_gpus
		                          : MIN(agent->least_queued, own->min_gpus);
}

static void
dequeue(Agents *agents, Agent *agent, JobId job)
{
	if (agents_job(agents, job)->min_gpus == agent->least_queued)
		agent->least_queued = UNKNOWN;
	g_array_remove_index(agent->queued, queue_place(agent->queued, job));
}

static void
drop_running(Agent *agent, JobId job)
{
	for (guint i = 0; i < agent->running->len; i++)
		if (g_array_index(agent->running, JobId, i) == job) {
			g_array_remove_index_fast(agent->running, i);
			return;
		}
}

static double
draw_error(const View *view, const ThemisOptions *options, AgentId id, guint64 draw)
{
	return options->bid_error * (2 * rng_unit(view_stream(view, "bid-error"), id, draw) - 1);
}

static void
crowd_settle(Crowd *crowd, SimTime now_ns, gint n_more)
{
	crowd->sum_ns += (GpuTime)crowd->n * (now_ns - crowd->since_ns);
	crowd->since_ns = now_ns;
	crowd->n += (guint)n_more;
}

static void
meet(Agents *agents, const View *view, Agent *agent, const Job *job)
{
	const App *app = view_app(view, job->app);

	crowd_settle(&agents->crowd, view_now_ns(view), 0);
	agent->crowd_at_submit = agents->crowd.sum_ns;
	agent->id = agents_id(agents, job);
	agent->submit_ns = agents->options->unit == UNIT_JOB ? job->submit_ns : app->submit_ns;
	agent->last_rho_ns = TIME_NEVER;
	agent->ranked_ns = agent->passed_ns = -1;
	agent->is_known = TRUE;
	agent->is_tuned = app->tuner != NULL;
	if (agent->is_tuned)
		g_array_append_val(agents->tuned, agent->id);
	agent->is_miscounted = TRUE;
	agent->least_queued = UNKNOWN;
	agent->left_ns = -1;
	agent->queued = g_array_new(FALSE, FALSE, sizeof(JobId));
	agent->running = g_array_new(FALSE, FALSE, sizeof(JobId));
	if (agents->options->bid_error > 0) {
		agent->error = draw_error(view, agents->options, agent->id, 0);
		agent->slowdown_error = draw_error(view, agents->options, agent->id, 1);
	}
	if (agents->options->lie > 0 && g_str_equal(app->name, agents->options->liar))
		agent->slowdown_error =
		    (1 + agent->slowdown_error) * (1 + agents->options->lie) - 1;
}

void
agents_arrived(Agents *agents, const View *view, const Job *job)
{
	Agent *agent = agents_of(agents, job);

	if (!agent->is_known)
		meet(agents, view, agent, job);
	if (agents->options->unit == UNIT_JOB)
		crowd_settle(&agents->crowd, view_now_ns(view), 1);
	agent->is_picky |= job_is_picky(job);
	agent->is_miscounted |= agent->is_tuned;
	set_widths(agents->options, view, job, agents_job(agents, job->id));
	agents_job(agents, job->id)->left_ns = -1;
	enqueue(agents, agent, job->id);
	settle_wanting(agents, agent);
}

/* What it held up to now counts for the app's rank at this instant (A67). */
static void
leave(Agent *agent, AgentJob *own, SimTime now_ns)
{
	if (agent->left_ns != now_ns)
		agent->left_ppb = 0;
	agent->left_ns = now_ns;
	agent->left_ppb += own->rate_ppb;
	own->left_ns = now_ns;
	own->rate_ppb = 0;
}

static void
unlist_leaving(Agents *agents, JobId job)
{
	for (guint i = 0; i < agents->leaving->len; i++)
		if (g_array_index(agents->leaving, JobId, i) == job) {
			g_array_remove_index(agents->leaving, i);
			return;
		}
}

/* It holds nothing any more. */
static void
vacate(Agents *agents, Agent *agent, JobId job)
{
	AgentJob *own = agents_job(agents, job);

	if (own->footing == FOOTING_RUNNING && can_grow(own))
		agent->n_growing--;
	if (own->footing == FOOTING_RUNNING)
		drop_running(agent, job);
	alloc_reset(&own->gpus);
}

void
agents_completed(Agents *agents, const View *view, const Job *job)
{
	Agent *agent = agents_of(agents, job);
	AgentJob *own = agents_job(agents, job->id);

	if (own->footing == FOOTING_LEAVING)
		unlist_leaving(agents, job->id);
	if (own->footing == FOOTING_QUEUED)
		dequeue(agents, agent, job->id);
	if (own->footing != FOOTING_RUNNING)
		agent->is_miscounted = TRUE;
	leave(agent, own, view_now_ns(view));
	vacate(agents, agent, job->id);
	alloc_clear(&own->gpus);
	own->footing = FOOTING_NONE;
	if (agents->options->unit == UNIT_JOB)
		crowd_settle(&agents->crowd, view_now_ns(view), -1);
	settle_wanting(agents, agent);
}

void
agents_placed(Agents *agents, const View *view, const Job *job, const Alloc *gpus)
{
	Agent *agent = agents_of(agents, job);
	AgentJob *own = agents_job(agents, job->id);

	if (own->footing == FOOTING_QUEUED) {
		dequeue(agents, agent, job->id);
		g_array_append_val(agent->running, job->id);
		agent->waiting_work -= work_left(view, job);
	} else if (can_grow(own)) {
		agent->n_growing--;
	}
	own->footing = FOOTING_RUNNING;
	own->since_ns = view_now_ns(view);
	own->rate_ppb = rate_on_ppb(view, job, gpus);
	if (gpus->n != own->gpus.n)
		own->best_ppb = rate_best_ppb(view, job, gpus->n);
	alloc_copy(&own->gpus, gpus);
	agent->n_growing += can_grow(own);
	settle_wanting(agents, agent);
}

void
agents_stopped(Agents *agents, const View *view, const Job *job)
{
	Agent *agent = agents_of(agents, job);
	AgentJob *own = agents_job(agents, job->id);

	vacate(agents, agent, job->id);
	agent->waiting_work += work_left(view, job);
	if (view_overheads(view, job->id).checkpoint_every_ns > 0)
		agent->is_miscounted = TRUE;
	if (view_overheads(view, job->id).suspend_ns > 0) {
		own->footing = FOOTING_LEAVING;
		g_array_append_val(agents->leaving, job->id);
	} else {
		leave(agent, own, view_now_ns(view));
		enqueue(agents, agent, job->id);
	}
	settle_wanting(agents, agent);
}

void
agents_settle_leaving(Agents *agents, const View *view)
{
	guint n_left = 0;

	for (guint i = 0; i < agents->leaving->len; i++) {
		JobId job = g_array_index(agents->leaving, JobId, i);
		Agent *agent = agents_of(agents, view_job(view, job));

		if (view_state(view, job) == JOB_SUSPENDING) {
			g_array_index(agents->leaving, JobId, n_left++) = job;
			continue;
		}
		leave(agent, agents_job(agents, job), view_now_ns(view));
		enqueue(agents, agent, job);
		settle_wanting(agents, agent);
	}
	g_array_set_size(agents->leaving, n_left);
}

void
agents_settle_widths(Agents *agents, const View *view)
{
	for (guint i = 0; i < agents->tuned->len; i++) {
		Agent *agent = &agents->agents[g_array_index(agents->tuned, AgentId, i)];

		agent->n_growing = 0;
		for (guint j = 0; j < agent->running->len; j++) {
			JobId job = g_array_index(agent->running, JobId, j);
			AgentJob *own = agents_job(agents, job);

			set_widths(agents->options, view, view_job(view, job), own);
			agent->n_growing += can_grow(own);
		}
		settle_wanting(agents, agent);
	}
}

void
agents_returned(Agents *agents, const Job *job)
{
	Agent *agent = agents_of(agents, job);

	if (!agent->has_returned)
		g_array_append_val(agents->returning, agent->id);
	agent->has_returned = TRUE;
}

void
agents_forget_returned(Agents *agents)
{
	for (guint i = 0; i < agents->returning->len; i++)
		agents->agents[g_array_index(agents->returning, AgentId, i)].has_returned = FALSE;
	g_array_set_size(agents->returning, 0);
}

gboolean
agents_job_can_grow(const Agents *agents, JobId job)
{
	return can_grow(agents_job(agents, job));
}

/* what a round asks */

static void
find_least_queued(Agents *agents, Agent *agent)
{
	guint32 least = UNKNOWN;

	for (guint i = 0; i < agent->queued->len; i++)
		least = MIN(least,
		            agents_job(agents, g_array_index(agent->queued, JobId, i))->min_gpus);
	agent->least_queued = least;
}

guint32
agent_least_grant(Agents *agents, const View *view, Agent *agent)
{
	guint32 least;

	if (agent->queued->len > 0 && agent->least_queued == UNKNOWN)
		find_least_queued(agents, agent);
	least = agent->queued->len > 0 ? agent->least_queued : G_MAXUINT32;
	for (guint i = 0; agent->n_growing > 0 && i < agent->running->len; i++) {
		const AgentJob *own = agents_job(agents, g_array_index(agent->running, JobId, i));

		if (can_grow(own))
			least = MIN(least, own->step_gpus);
	}
	return least;
}

static const JobId *
jobs_of(const Agents *agents, const View *view, const Agent *agent, guint *ret_n)
{
	const App *app;

	if (agents->options->unit == UNIT_JOB) {
		*ret_n = 1;
		return &view_job(view, agent->id)->id;
	}
	app = view_app(view, agent->id);
	*ret_n = app->n_jobs;
	return app->jobs;
}

/* Once an app is met, and whenever work was lost or given up. */
static void
count_waiting_work(Agents *agents, const View *view, Agent *agent)
{
	guint n_jobs;
	const JobId *jobs = jobs_of(agents, view, agent, &n_jobs);

	agent->waiting_work = 0;
	for (guint i = 0; i < n_jobs; i++)
		if (!job_state_is_done(view_state(view, jobs[i])) &&
		    agents_job(agents, jobs[i])->footing != FOOTING_RUNNING)
			agent->waiting_work += work_left(view, view_job(view, jobs[i]));
	agent->is_miscounted = FALSE;
}

/* The phases of its tuner, as the agent estimates them. */
static void
foresee_phases(const View *view, Agent *agent)
{
	Forecast *forecast = &agent->forecast;

	forecast->n_phases = view_app_forecast(view, agent->id, forecast->phases);
	for (guint i = 0; i < forecast->n_phases; i++)
		forecast->phases[i].work_gpu_ns *= 1 + agent->error;
}

void
agent_foresee(Agents *agents, const View *view, Agent *agent)
{
	GpuTime work;

	if (agent->is_tuned && agents->options->unit == UNIT_APP) {
		foresee_phases(view, agent);
		return;
	}

	if (agent->is_miscounted)
		count_waiting_work(agents, view, agent);
	work = agent->waiting_work;
	for (guint i = 0; i < agent->running->len; i++)
		work += work_left(view, view_job(view, g_array_index(agent->running, JobId, i)));
	agent->forecast = forecast_of_work((double)work / GPU_MILLI * (1 + agent->error));
}

double
agent_demand_gpus(const Agents *agents, const View *view, const Agent *agent)
{
	const Job *job;

	if (agents->options->unit == UNIT_APP)
		return (double)view_app_demand_milli(view, agent->id) / GPU_MILLI;
	job = view_job(view, agent->id);
	return (double)job_held_milli(job, job->max_gpus) / GPU_MILLI;
}

/* W: all its work, done or not, in thousandths of GPU-nanoseconds. */
static GpuTime
whole_work(const Agents *agents, const View *view, const Agent *agent)
{
	GpuTime work = 0;
	SimWork duration_ns = 0;
	const Job *job;

	if (agents->options->unit == UNIT_APP) {
		view_app_work(view, agent->id, &work);
		return work;
	}
	job = view_job(view, agent->id);
	view_duration_ns(view, job->id, &duration_ns);
	return (GpuTime)duration_ns * job_held_milli(job, job->num_gpus);
}

guint
agents_n_present(const Agents *agents, const View *view)
{
	return agents->options->unit == UNIT_APP ? view_n_active_apps(view) : agents->crowd.n;
}

/* N_avg (A68). */
static double
n_avg(const Agents *agents, const View *view, const Agent *agent)
{
	SimTime age_ns = view_now_ns(view) - agent->submit_ns;
	Crowd crowd = agents->crowd;

	if (agents->options->unit == UNIT_APP)
		return view_app_n_avg(view, agent->id);
	if (age_ns == 0)
		return crowd.n;
	crowd_settle(&crowd, view_now_ns(view), 0);
	return (double)(crowd.sum_ns - agent->crowd_at_submit) / (double)age_ns;
}

double
agent_ideal_ns(const Agents *agents, const View *view, const Agent *agent)
{
	double n_gpus = view_cluster_spec(view)->n_gpus;
	double demand = agent_demand_gpus(agents, view, agent);
	double work = (double)whole_work(agents, view, agent) / GPU_MILLI;

	switch ((IdealTime)agents->options->tid) {
	case IDEAL_PAPER:
		return work / MIN(n_gpus, demand) * n_avg(agents, view, agent);
	case IDEAL_CAPPED:
		return work / MIN(n_gpus / n_avg(agents, view, agent), demand);
	case IDEAL_ALONE:
		return work / MIN(n_gpus, demand);
	}
	g_assert_not_reached();
}

double
agent_elapsed_ns(const View *view, const Agent *agent)
{
	return (double)(view_now_ns(view) - agent->submit_ns);
}

gint64
agent_rate_until_now_ppb(const Agents *agents, const View *view, const Agent *agent)
{
	gint64 rate_ppb = agent->left_ns == view_now_ns(view) ? agent->left_ppb : 0;

	for (guint i = 0; i < agent->running->len; i++)
		rate_ppb += agents_job(agents, g_array_index(agent->running, JobId, i))->rate_ppb;
	return rate_ppb;
}
