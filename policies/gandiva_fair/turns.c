/* SPDX-License-Identifier: MIT */

/*
 * Gang-aware stride scheduling (policies.md 2.6): whoever has had the least for its tickets goes
 * first. A pass counts what has been had: after a quantum on k GPUs it is k / tickets higher.
 *
 * The scheduler is split: the small jobs of a server are in line there, and the server, with the
 * tickets of all of them, is in line with the wide jobs, which need several servers at once.
 */

#include "policies/gandiva_fair/state.h"

typedef struct Turn {
	gint64 rank;
	JobId job;      /* of a server the first of its jobs, to break ties */
	guint32 server; /* FAIR_NOWHERE: the job itself */
} Turn;

static JobId
job_at(const GArray *jobs, guint index)
{
	return g_array_index(jobs, JobId, index);
}

GArray *
fair_turns_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(Turn));
}

double
fair_turns_least(const Fair *fair, guint32 server)
{
	const GArray *jobs = fair->servers[server].jobs;
	double least = HUGE_VAL;

	for (guint i = 0; i < jobs->len; i++)
		least = MIN(least, fair->jobs[job_at(jobs, i)].pass);
	return jobs->len > 0 ? least : 0;
}

double
fair_turns_least_central(const Fair *fair)
{
	double least = HUGE_VAL;

	for (guint i = 0; i < fair->spec->n_machines; i++)
		if (fair->servers[i].jobs->len > 0)
			least = MIN(least, fair->servers[i].pass);
	for (guint i = 0; i < fair->wide->len; i++)
		least = MIN(least, fair->jobs[job_at(fair->wide, i)].pass);
	return least < HUGE_VAL ? least : 0;
}

/* paying */

/* Quanta that the job has had since it was last asked, by the GPU or as such. */
static double
quanta_since(Fair *fair, const View *view, JobId id)
{
	FairJob *job = &fair->jobs[id];
	GpuTime service = view_attained_service(view, id);
	SimTime attained_ns = view_attained_ns(view, id);
	double quantum_ns = (double)fair->options.quantum_ns;
	double quanta = fair->options.stride == FAIR_STRIDE_GANG
	                    ? (double)(service - job->charged_service) / GPU_MILLI / quantum_ns
	                    : (double)(attained_ns - job->charged_ns) / quantum_ns;

	job->charged_service = service;
	job->charged_ns = attained_ns;
	return quanta;
}

void
fair_turns_charge_job(Fair *fair, const View *view, JobId id)
{
	FairJob *job = &fair->jobs[id];
	double quanta = quanta_since(fair, view, id);
	double *used;

	if (quanta <= 0 || job->tickets <= 0)
		return;
	job->pass += quanta / job->tickets;
	if (job->server == FAIR_NOWHERE)
		return;
	used = &fair->servers[job->server].used;
	*used = fair->options.stride == FAIR_STRIDE_GANG ? *used + quanta : MAX(*used, quanta);
}

void
fair_turns_charge(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++)
		fair_turns_charge_job(fair, view, job_at(fair->active, i));
	for (guint i = 0; i < fair->spec->n_machines; i++) {
		FairServer *server = &fair->servers[i];

		if (server->used > 0 && server->tickets > 0)
			server->pass += server->used / server->tickets;
		server->used = 0;
	}
}

/* forgiving */

/* Those in one line: how far behind one can be that has no more than its turns to come. */
typedef struct Line {
	double waits, most; /* the least pass of who waits, the largest of all */
	double stride;      /* the largest */
} Line;

static const Line empty_line = { .waits = HUGE_VAL };

static void
line_add(Line *line, double pass, double stride, gboolean waits)
{
	if (waits)
		line->waits = MIN(line->waits, pass);
	line->most = MAX(line->most, pass);
	line->stride = MAX(line->stride, stride);
}

static double
line_floor(const Line *line)
{
	return MIN(line->waits, line->most) - line->stride;
}

static double
stride_of(const Fair *fair, const View *view, JobId id)
{
	gboolean is_gang = fair->options.stride == FAIR_STRIDE_GANG;
	double tickets = fair->jobs[id].tickets;

	if (tickets <= 0)
		return 0;
	return (is_gang ? fair_gang(view_job(view, id)) : 1) / tickets;
}

static void
forgive_jobs(Fair *fair, const View *view, const GArray *jobs, Line *line)
{
	for (guint i = 0; i < jobs->len; i++) {
		JobId id = job_at(jobs, i);

		line_add(line, fair->jobs[id].pass, stride_of(fair, view, id),
		         fair_waits(fair, id));
	}
}

static void
raise_jobs(Fair *fair, const GArray *jobs, double floor)
{
	for (guint i = 0; i < jobs->len; i++) {
		FairJob *job = &fair->jobs[job_at(jobs, i)];

		job->pass = MAX(job->pass, floor);
	}
}

static gboolean
somebody_waits(const Fair *fair, const GArray *jobs)
{
	for (guint i = 0; i < jobs->len; i++)
		if (fair_waits(fair, job_at(jobs, i)))
			return TRUE;
	return FALSE;
}

static double
server_stride(const Fair *fair, guint32 index)
{
	double most = fair->options.stride == FAIR_STRIDE_GANG
	                  ? (double)fair->spec->machines[index].n_gpus
	                  : 1;

	return fair->servers[index].tickets > 0 ? most / fair->servers[index].tickets : 0;
}

/* A job whose share is more than its gang always runs and falls ever further behind, and whoever
 * came level with it would have everything for long. In line nobody is further behind the first of
 * those that wait than by the longest stride there. */
void
fair_turns_forgive(Fair *fair, const View *view)
{
	Line central = empty_line;

	for (guint i = 0; i < fair->spec->n_machines; i++) {
		FairServer *server = &fair->servers[i];
		Line line = empty_line;

		if (server->jobs->len == 0)
			continue;
		forgive_jobs(fair, view, server->jobs, &line);
		raise_jobs(fair, server->jobs, line_floor(&line));
		line_add(&central, server->pass, server_stride(fair, i),
		         somebody_waits(fair, server->jobs));
	}
	forgive_jobs(fair, view, fair->wide, &central);
	raise_jobs(fair, fair->wide, line_floor(&central));
	for (guint i = 0; i < fair->spec->n_machines; i++)
		if (fair->servers[i].jobs->len > 0)
			fair->servers[i].pass = MAX(fair->servers[i].pass, line_floor(&central));
}

/* in line */

static int
compare_turns(gconstpointer one, gconstpointer other)
{
	const Turn *a = one, *b = other;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

static void
line_up(const Fair *fair, const GArray *jobs, GArray *turns)
{
	for (guint i = 0; i < jobs->len; i++) {
		JobId job = job_at(jobs, i);
		Turn turn = { score_rank_of(fair->jobs[job].pass), job, FAIR_NOWHERE };

		g_array_append_val(turns, turn);
	}
}

static void
line_up_servers(const Fair *fair, GArray *turns)
{
	for (guint i = 0; i < fair->spec->n_machines; i++) {
		const FairServer *server = &fair->servers[i];
		Turn turn = { score_rank_of(server->pass), JOB_NONE, i };

		for (guint j = 0; j < server->jobs->len; j++)
			turn.job = MIN(turn.job, job_at(server->jobs, j));
		if (server->jobs->len > 0)
			g_array_append_val(turns, turn);
	}
}

static void
append_server(Fair *fair, guint32 server)
{
	g_array_set_size(fair->turns, 0);
	line_up(fair, fair->servers[server].jobs, fair->turns);
	g_array_sort(fair->turns, compare_turns);
	for (guint i = 0; i < fair->turns->len; i++)
		g_array_append_val(fair->order, g_array_index(fair->turns, Turn, i).job);
}

void
fair_turns_sort(Fair *fair)
{
	g_array_set_size(fair->order, 0);
	g_array_set_size(fair->central, 0);
	line_up_servers(fair, fair->central);
	line_up(fair, fair->wide, fair->central);
	g_array_sort(fair->central, compare_turns);
	for (guint i = 0; i < fair->central->len; i++) {
		const Turn *turn = &g_array_index(fair->central, Turn, i);

		if (turn->server != FAIR_NOWHERE)
			append_server(fair, turn->server);
		else
			g_array_append_val(fair->order, turn->job);
	}
}
