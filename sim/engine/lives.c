/* SPDX-License-Identifier: MIT */

#include "sim/engine/lives.h"

/* The fewest GPUs that any app could do with at most; 0 if none uses any. */
static guint64
least_demand_milli(const Workload *workload)
{
	guint64 least_milli = 0;

	for (AppId app = 0; app < workload->n_apps; app++) {
		guint64 demand_milli = workload->apps[app].demand_milli;

		if (demand_milli > 0 && (least_milli == 0 || demand_milli < least_milli))
			least_milli = demand_milli;
	}
	return least_milli;
}

Lives *
lives_new(const Workload *workload, guint64 capacity_milli, const Recorder *recorder)
{
	Lives *lives = g_new0(Lives, 1);

	lives->workload = workload;
	lives->recorder = recorder;
	lives->lives = g_new0(AppLife, workload->n_apps);
	lives->capacity_milli = capacity_milli;
	crowd_init(&lives->crowd, capacity_milli, least_demand_milli(workload), workload->n_apps);
	lives->born_now = g_array_new(FALSE, FALSE, sizeof(AppId));
	return lives;
}

void
lives_free(Lives *lives)
{
	if (lives == NULL)
		return;
	g_free(lives->lives);
	crowd_clear(&lives->crowd);
	g_array_unref(lives->born_now);
	g_free(lives);
}

static guint64
load_milli(const Lives *lives)
{
	return MAX(lives->demand_milli, lives->capacity_milli);
}

void
lives_advance(Lives *lives, SimTime now_ns)
{
	SimTime passed_ns = now_ns - lives->now_ns;

	lives->apps_ns += (__int128)passed_ns * lives->n_active;
	lives->jobs_ns += (__int128)passed_ns * lives->n_jobs;
	lives->load_milli_ns += (__int128)passed_ns * load_milli(lives);
	crowd_add(&lives->crowd, lives->n_active, passed_ns);
	lives->now_ns = now_ns;
}

/* The one place where demand(t) changes. */
static void
change_demand(Lives *lives, const Job *job, guint from_gpus, guint to_gpus)
{
	guint64 from_milli = job_held_milli(job, from_gpus);
	guint64 to_milli = job_held_milli(job, to_gpus);
	const Recorder *recorder = lives->recorder;

	lives->demand_milli += to_milli;
	lives->demand_milli -= from_milli;
	lives->n_jobs += to_gpus > 0;
	lives->n_jobs -= from_gpus > 0;
	if (recorder != NULL && recorder->demand != NULL)
		recorder->demand(recorder->self, job->id, lives->now_ns, from_milli, to_milli);
}

void
lives_submitted(Lives *lives, const Job *job, gboolean is_admitted, guint max_gpus)
{
	AppLife *life = &lives->lives[job->app];

	if (!life->is_born) {
		life->is_born = TRUE;
		life->born_ns = lives->now_ns;
		life->apps_at_birth = lives->apps_ns;
		life->jobs_at_birth = lives->jobs_ns;
		life->load_at_birth = lives->load_milli_ns;
		g_array_append_val(lives->born_now, job->app);
	}
	if (!is_admitted || job->num_gpus == 0)
		return;
	change_demand(lives, job, 0, max_gpus);
	if (life->n_alive++ == 0)
		lives->n_active++;
}

void
lives_settle(Lives *lives)
{
	for (guint i = 0; i < lives->born_now->len; i++) {
		AppLife *life = &lives->lives[g_array_index(lives->born_now, AppId, i)];

		life->n_avg = lives->n_active;
		life->n_jobs_avg = lives->n_jobs;
		life->contention = (double)load_milli(lives) / (double)lives->capacity_milli;
	}
	g_array_set_size(lives->born_now, 0);
}

void
lives_change_demand(Lives *lives, const Job *job, guint from_gpus, guint to_gpus)
{
	change_demand(lives, job, from_gpus, to_gpus);
}

static void
find_means(const Lives *lives, AppLife *life)
{
	double length_ns = (double)(life->died_ns - life->born_ns);

	life->n_avg = (double)(lives->apps_ns - life->apps_at_birth) / length_ns;
	life->n_jobs_avg = (double)(lives->jobs_ns - life->jobs_at_birth) / length_ns;
	life->contention = (double)(lives->load_milli_ns - life->load_at_birth) /
	                   (length_ns * (double)lives->capacity_milli);
}

void
lives_done(Lives *lives, const Job *job, guint max_gpus)
{
	AppLife *life = &lives->lives[job->app];

	life->died_ns = lives->now_ns;
	if (life->died_ns > life->born_ns)
		find_means(lives, life);
	if (job->num_gpus == 0)
		return;
	change_demand(lives, job, max_gpus, 0);
	if (--life->n_alive == 0)
		lives->n_active--;
}

double
lives_n_avg(const Lives *lives, AppId app)
{
	const AppLife *life = &lives->lives[app];

	if (!life->is_born || lives->now_ns == life->born_ns)
		return lives->n_active;
	return (double)(lives->apps_ns - life->apps_at_birth) /
	       (double)(lives->now_ns - life->born_ns);
}

double
lives_n_avg_of_life(const Lives *lives, AppId app)
{
	return lives->lives[app].n_avg;
}

double
lives_contention_of_life(const Lives *lives, AppId app)
{
	return lives->lives[app].contention;
}

double
lives_n_jobs_of_life(const Lives *lives, AppId app)
{
	return lives->lives[app].n_jobs_avg;
}

__int128
lives_crowd_load(const Lives *lives, AppId app)
{
	guint64 demand_milli = lives->workload->apps[app].demand_milli;

	return demand_milli > 0 ? crowd_load(&lives->crowd, demand_milli) : 0;
}

void
lives_worked(Lives *lives, AppId app, double work, SimTime length_ns, __int128 load_at_start)
{
	AppLife *life = &lives->lives[app];
	double demand_milli = (double)lives->workload->apps[app].demand_milli;
	double load = (double)(lives_crowd_load(lives, app) - load_at_start);

	life->work += work;
	life->work_apps += work * (load / (demand_milli * (double)length_ns));
}

double
lives_n_at_work(const Lives *lives, AppId app)
{
	const AppLife *life = &lives->lives[app];

	return life->work > 0 ? life->work_apps / life->work : 0;
}
