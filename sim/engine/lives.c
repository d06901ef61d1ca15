/* SPDX-License-Identifier: MIT */

#include "sim/engine/lives.h"

Lives *
lives_new(const Workload *workload, guint64 capacity_milli)
{
	Lives *lives = g_new0(Lives, 1);

	lives->workload = workload;
	lives->lives = g_new0(AppLife, workload->n_apps);
	lives->capacity_milli = capacity_milli;
	lives->born_now = g_array_new(FALSE, FALSE, sizeof(AppId));
	return lives;
}

void
lives_free(Lives *lives)
{
	if (lives == NULL)
		return;
	g_free(lives->lives);
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
	lives->load_milli_ns += (__int128)passed_ns * load_milli(lives);
	lives->now_ns = now_ns;
}

void
lives_submitted(Lives *lives, const Job *job, gboolean is_admitted, guint max_gpus)
{
	AppLife *life = &lives->lives[job->app];

	if (!life->is_born) {
		life->is_born = TRUE;
		life->born_ns = lives->now_ns;
		life->apps_at_birth = lives->apps_ns;
		life->load_at_birth = lives->load_milli_ns;
		g_array_append_val(lives->born_now, job->app);
	}
	if (!is_admitted || job->num_gpus == 0)
		return;
	lives->demand_milli += job_held_milli(job, max_gpus);
	if (life->n_alive++ == 0)
		lives->n_active++;
}

void
lives_settle(Lives *lives)
{
	for (guint i = 0; i < lives->born_now->len; i++) {
		AppLife *life = &lives->lives[g_array_index(lives->born_now, AppId, i)];

		life->n_at_submit = lives->n_active;
		life->load_at_submit_milli = load_milli(lives);
	}
	g_array_set_size(lives->born_now, 0);
}

void
lives_change_demand(Lives *lives, const Job *job, guint from_gpus, guint to_gpus)
{
	lives->demand_milli += job_held_milli(job, to_gpus);
	lives->demand_milli -= job_held_milli(job, from_gpus);
}

void
lives_done(Lives *lives, const Job *job, guint max_gpus)
{
	AppLife *life = &lives->lives[job->app];

	life->died_ns = lives->now_ns;
	life->apps_at_death = lives->apps_ns;
	life->load_at_death = lives->load_milli_ns;
	if (job->num_gpus == 0)
		return;
	lives->demand_milli -= job_held_milli(job, max_gpus);
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
	const AppLife *life = &lives->lives[app];

	if (life->died_ns == life->born_ns)
		return life->n_at_submit;
	return (double)(life->apps_at_death - life->apps_at_birth) /
	       (double)(life->died_ns - life->born_ns);
}

double
lives_contention_of_life(const Lives *lives, AppId app)
{
	const AppLife *life = &lives->lives[app];

	if (life->died_ns == life->born_ns)
		return (double)life->load_at_submit_milli / (double)lives->capacity_milli;
	return (double)(life->load_at_death - life->load_at_birth) /
	       ((double)(life->died_ns - life->born_ns) * (double)lives->capacity_milli);
}
