/* SPDX-License-Identifier: MIT */
#include "sim/engine/tuning.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/score.h"
#include "sim/engine/runs.h"

typedef enum TrialState {
	TRIAL_NONE,   /* of an app without a tuner, or one that can never run */
	TRIAL_TRAINS, /* towards its goal: to come, queued, running, or at it and to be judged */
	TRIAL_PAUSED,
	TRIAL_GONE, /* done, however it ended */
} TrialState;

typedef struct Trial {
	TrialState state;
	guint32 bracket;
	guint32 phase;     /* in its bracket, from 0; only a trial that goes on enters the next */
	guint32 n_reached; /* phases to whose ends it has worked */
} Trial;

/* A tuner at work on one app. */
typedef struct Search {
	const App *app;
	const Tuner *tuner;
	guint n_trials;
	guint n_phases; /* of the longest bracket */
	guint n_brackets;
	guint n_finished;
	guint64 *demand_milli; /* sum of caps of who has entered it, by bracket and phase */
	gint64 target_rank;    /* hyperdrive: of the loss to be met */
	gboolean is_touched;
} Search;

/* A trial and the loss that it is judged by, as a score's rank (B02). */
typedef struct Judged {
	gint64 loss_rank;
	JobId job;
} Judged;

struct Tuning {
	Trial *trials;    /* by JobId */
	Search *searches; /* by AppId; those without a tuner are empty */
	GArray *touched;  /* of AppId: to be settled */
	GArray *reached;  /* of JobId: at their goals, to be judged */
	GArray *judged;   /* of Judged: scratch */
	RngStream forecasts;
};

static Trial *
trial_of(const Engine *engine, JobId job)
{
	return &engine->tuning->trials[job];
}

static Search *
search_of(const Engine *engine, JobId job)
{
	return &engine->tuning->searches[engine_job(engine, job)->app];
}

static gboolean
is_alive(const Trial *trial)
{
	return trial->state == TRIAL_TRAINS || trial->state == TRIAL_PAUSED;
}

/* Work of @job at the end of @phase of its bracket. */
static SimWork
goal_of(const Engine *engine, JobId job, guint phase)
{
	const Search *search = search_of(engine, job);

	return tuner_goal_ns(search->tuner, search->n_phases, trial_of(engine, job)->bracket, phase,
	                     engine->scenario->workload->duration_ns[job]);
}

static guint
n_phases_of(const Search *search, const Trial *trial)
{
	return tuner_n_bracket_phases(search->tuner, search->n_phases, trial->bracket);
}

/* Beginning */

/* Every trial of hyperdrive may be in its first phase, and no later one has more of them. */
static guint
n_demands(const Search *search)
{
	return search->tuner->kind == TUNER_HYPERDRIVE ? 1 : search->n_brackets * search->n_phases;
}

static void
note_demand(const Engine *engine, JobId job)
{
	Search *search = search_of(engine, job);
	const Trial *trial = trial_of(engine, job);
	guint place = trial->bracket * search->n_phases + trial->phase;

	if (place < n_demands(search))
		search->demand_milli[place] +=
		    job_held_milli(engine_job(engine, job), tuning_max_gpus(engine, job));
}

static gboolean
can_ever_run(const Engine *engine, const Job *job)
{
	g_autofree char *refusal = job->num_gpus > 0 ? fit_refusal(engine, job) : NULL;

	return refusal == NULL;
}

static gint64
loss_rank(const Engine *engine, JobId job, SimWork work_ns)
{
	return score_rank_of(loss_at(engine_job(engine, job)->loss, work_ns));
}

static int
compare_judged(const void *one, const void *other)
{
	const Judged *a = one, *b = other;

	if (a->loss_rank != b->loss_rank)
		return a->loss_rank < b->loss_rank ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

static void
judge(Engine *engine, JobId job, SimWork work_ns)
{
	Judged judged = { loss_rank(engine, job, work_ns), job };

	g_array_append_val(engine->tuning->judged, judged);
}

/* The loss that the best `keep` part of the trials would end with, at least the best one. */
static void
find_target(Engine *engine, Search *search)
{
	GArray *judged = engine->tuning->judged;
	guint n_kept = (guint)ceil(search->tuner->keep * search->n_trials - 1e-9);

	g_array_set_size(judged, 0);
	for (guint i = 0; i < search->app->n_jobs; i++)
		if (trial_of(engine, search->app->jobs[i])->state == TRIAL_TRAINS)
			judge(engine, search->app->jobs[i],
			      engine->scenario->workload->duration_ns[search->app->jobs[i]]);
	g_array_sort(judged, compare_judged);
	if (judged->len > 0)
		search->target_rank = g_array_index(judged, Judged, MAX(n_kept, 1) - 1).loss_rank;
}

static void
start_trial(Engine *engine, JobId job, guint bracket)
{
	Run *run = &engine->runs[job];

	trial_of(engine, job)->bracket = bracket;
	run->goal_ns = goal_of(engine, job, 0);
	run->work_left_ns = run->goal_ns;
	note_demand(engine, job);
}

static void
start_search(Engine *engine, Search *search, const App *app)
{
	guint index = 0;

	search->app = app;
	search->tuner = app->tuner;
	for (guint i = 0; i < app->n_jobs; i++) {
		if (!can_ever_run(engine, engine_job(engine, app->jobs[i])))
			continue;
		trial_of(engine, app->jobs[i])->state = TRIAL_TRAINS;
		search->n_trials++;
	}
	search->n_phases = tuner_n_phases(app->tuner, search->n_trials);
	search->n_brackets = tuner_n_brackets(app->tuner, search->n_phases);
	search->demand_milli = g_new0(guint64, n_demands(search));
	for (guint i = 0; i < app->n_jobs; i++)
		if (trial_of(engine, app->jobs[i])->state == TRIAL_TRAINS)
			start_trial(
			    engine, app->jobs[i],
			    tuner_bracket(app->tuner, search->n_phases, search->n_trials, index++));
	if (app->tuner->kind == TUNER_HYPERDRIVE)
		find_target(engine, search);
}

Tuning *
tuning_new(Engine *engine)
{
	const Workload *workload = engine->scenario->workload;
	Tuning *tuning = g_new0(Tuning, 1);

	engine->tuning = tuning;
	tuning->trials = g_new0(Trial, workload->n_jobs);
	tuning->searches = g_new0(Search, workload->n_apps);
	tuning->touched = g_array_new(FALSE, FALSE, sizeof(AppId));
	tuning->reached = g_array_new(FALSE, FALSE, sizeof(JobId));
	tuning->judged = g_array_new(FALSE, FALSE, sizeof(Judged));
	tuning->forecasts = rng_stream(engine->scenario->seed, "forecast");
	for (AppId app = 0; app < workload->n_apps; app++)
		if (workload->apps[app].tuner != NULL)
			start_search(engine, &tuning->searches[app], &workload->apps[app]);
	return tuning;
}

void
tuning_free(Tuning *tuning, guint n_apps)
{
	if (tuning == NULL)
		return;
	for (AppId app = 0; app < n_apps; app++)
		g_free(tuning->searches[app].demand_milli);
	g_free(tuning->trials);
	g_free(tuning->searches);
	g_array_unref(tuning->touched);
	g_array_unref(tuning->reached);
	g_array_unref(tuning->judged);
	g_free(tuning);
}

/* What happens to trials */

static void
touch(Engine *engine, AppId app)
{
	Search *search = &engine->tuning->searches[app];

	if (search->is_touched)
		return;
	search->is_touched = TRUE;
	g_array_append_val(engine->tuning->touched, app);
}

gboolean
tuning_reach(Engine *engine, JobId job)
{
	const Trial *trial = trial_of(engine, job);

	if (trial->state != TRIAL_TRAINS ||
	    trial->phase + 1 >= n_phases_of(search_of(engine, job), trial))
		return FALSE;
	g_array_append_val(engine->tuning->reached, job);
	touch(engine, engine_job(engine, job)->app);
	return TRUE;
}

void
tuning_leave(Engine *engine, JobId job)
{
	Trial *trial = trial_of(engine, job);

	if (trial->state == TRIAL_NONE)
		return;
	trial->state = TRIAL_GONE;
	search_of(engine, job)->n_finished += engine->record->jobs[job].state == JOB_FINISHED;
	touch(engine, engine_job(engine, job)->app);
}

/* Into the next phase: the new goal. */
static SimWork
enter_next(Engine *engine, JobId job)
{
	Trial *trial = trial_of(engine, job);

	trial->phase++;
	trial->state = TRIAL_TRAINS;
	note_demand(engine, job);
	return goal_of(engine, job, trial->phase);
}

static void
go_on(Engine *engine, JobId job)
{
	guint before_gpus = tuning_max_gpus(engine, job);
	SimWork goal_ns = enter_next(engine, job);

	lives_change_demand(engine->lives, engine_job(engine, job), before_gpus,
	                    tuning_max_gpus(engine, job));
	run_extend(engine, job, goal_ns);
}

static void
come_back(Engine *engine, JobId job)
{
	SimWork goal_ns = enter_next(engine, job);

	run_resume(engine, job, goal_ns);
}

static void
pause(Engine *engine, JobId job)
{
	trial_of(engine, job)->state = TRIAL_PAUSED;
	run_pause(engine, job);
}

static void
stop(Engine *engine, JobId job)
{
	trial_of(engine, job)->state = TRIAL_GONE;
	run_end_early(engine, job);
}

/* Successive halving, and each bracket of hyperband */

static guint
n_alive(const Engine *engine, const Search *search, guint bracket)
{
	guint n = 0;

	for (guint i = 0; i < search->app->n_jobs; i++) {
		const Trial *trial = trial_of(engine, search->app->jobs[i]);

		n += is_alive(trial) && trial->bracket == bracket;
	}
	return n;
}

/* Puts the trials of @bracket that are paused in order of loss; FALSE if one is still to come. */
static gboolean
judge_bracket(Engine *engine, const Search *search, guint bracket)
{
	g_array_set_size(engine->tuning->judged, 0);
	for (guint i = 0; i < search->app->n_jobs; i++) {
		JobId job = search->app->jobs[i];
		const Trial *trial = trial_of(engine, job);

		if (trial->bracket != bracket || !is_alive(trial))
			continue;
		if (trial->state == TRIAL_TRAINS)
			return FALSE;
		judge(engine, job, engine->runs[job].goal_ns);
	}
	g_array_sort(engine->tuning->judged, compare_judged);
	return TRUE;
}

static int
compare_ids(const void *one, const void *other)
{
	JobId a = ((const Judged *)one)->job, b = ((const Judged *)other)->job;

	return a < b ? -1 : a > b;
}

/* The slowest trial of the phase is there: the best go on, the others are stopped. */
static void
end_phase(Engine *engine, const Search *search, guint bracket)
{
	GArray *judged = engine->tuning->judged;
	Judged *trials;
	guint n_kept;

	if (!judge_bracket(engine, search, bracket) || judged->len == 0)
		return;
	trials = &g_array_index(judged, Judged, 0);
	n_kept = tuner_n_survivors(search->tuner, judged->len);
	qsort(trials, n_kept, sizeof(Judged), compare_ids);
	qsort(trials + n_kept, judged->len - n_kept, sizeof(Judged), compare_ids);
	for (guint i = n_kept; i < judged->len; i++)
		stop(engine, trials[i].job);
	for (guint i = 0; i < n_kept; i++)
		come_back(engine, trials[i].job);
}

static void
settle_brackets(Engine *engine, const Search *search, const JobId *reached, guint n_reached)
{
	for (guint i = 0; i < n_reached; i++) {
		trial_of(engine, reached[i])->n_reached++;
		/* One that has nobody to be compared with has no reason to pause. */
		if (n_alive(engine, search, trial_of(engine, reached[i])->bracket) == 1)
			go_on(engine, reached[i]);
		else
			pause(engine, reached[i]);
	}
	for (guint bracket = 0; bracket < search->n_brackets; bracket++)
		end_phase(engine, search, bracket);
}

/* ASHA */

/* The results of @phase so far, in order of loss. */
static void
judge_rung(Engine *engine, const Search *search, guint phase)
{
	g_array_set_size(engine->tuning->judged, 0);
	for (guint i = 0; i < search->app->n_jobs; i++) {
		JobId job = search->app->jobs[i];

		if (trial_of(engine, job)->n_reached > phase)
			judge(engine, job, goal_of(engine, job, phase));
	}
	g_array_sort(engine->tuning->judged, compare_judged);
}

/* Whether @job is among the best of those that have come as far. */
static gboolean
is_promoted(Engine *engine, const Search *search, JobId job)
{
	const GArray *judged = engine->tuning->judged;
	guint n_best;

	judge_rung(engine, search, trial_of(engine, job)->phase);
	n_best = judged->len / (guint)search->tuner->eta;
	for (guint i = 0; i < n_best; i++)
		if (g_array_index(judged, Judged, i).job == job)
			return TRUE;
	return FALSE;
}

/* Brings back the paused trials of @phase that are among its best by now. */
static void
promote_rung(Engine *engine, const Search *search, guint phase)
{
	GArray *judged = engine->tuning->judged;
	guint n_best;

	judge_rung(engine, search, phase);
	n_best = judged->len / (guint)search->tuner->eta;
	for (guint i = 0; i < n_best; i++) {
		JobId job = g_array_index(judged, Judged, i).job;

		if (trial_of(engine, job)->state == TRIAL_PAUSED &&
		    trial_of(engine, job)->phase == phase)
			come_back(engine, job);
	}
}

static gboolean
anybody(const Engine *engine, const Search *search, TrialState state)
{
	for (guint i = 0; i < search->app->n_jobs; i++)
		if (trial_of(engine, search->app->jobs[i])->state == state)
			return TRUE;
	return FALSE;
}

/* Few trials, many phases, or ends by time limit: no rung has eta results any more, and the app
 * has no model yet. The best of the highest rung goes on, as the last of a bracket does. */
static void
promote_best(Engine *engine, const Search *search)
{
	JobId best = JOB_NONE;

	for (guint i = 0; i < search->app->n_jobs; i++) {
		JobId job = search->app->jobs[i];
		const Trial *trial = trial_of(engine, job);
		gint64 rank;

		if (trial->state != TRIAL_PAUSED)
			continue;
		rank = loss_rank(engine, job, engine->runs[job].goal_ns);
		if (best == JOB_NONE || trial->phase > trial_of(engine, best)->phase ||
		    (trial->phase == trial_of(engine, best)->phase &&
		     rank < loss_rank(engine, best, engine->runs[best].goal_ns)))
			best = job;
	}
	if (best != JOB_NONE)
		come_back(engine, best);
}

static void
stop_paused(Engine *engine, const Search *search)
{
	for (guint i = 0; i < search->app->n_jobs; i++)
		if (trial_of(engine, search->app->jobs[i])->state == TRIAL_PAUSED)
			stop(engine, search->app->jobs[i]);
}

static void
settle_asha(Engine *engine, const Search *search, const JobId *reached, guint n_reached)
{
	for (guint i = 0; i < n_reached; i++) {
		trial_of(engine, reached[i])->n_reached++;
		if (is_promoted(engine, search, reached[i]))
			go_on(engine, reached[i]);
		else
			pause(engine, reached[i]);
	}
	for (guint phase = search->n_phases; phase-- > 0;)
		promote_rung(engine, search, phase);
	if (anybody(engine, search, TRIAL_TRAINS))
		return;
	if (search->n_finished == 0)
		promote_best(engine, search);
	else
		stop_paused(engine, search);
}

/* HyperDrive */

/* The forecast of the final loss is off by up to its error bar, which narrows to nothing as the
 * training goes on. */
static gboolean
misses_target(const Engine *engine, const Search *search, JobId job)
{
	guint phase = trial_of(engine, job)->phase;
	double final =
	    loss_at(engine_job(engine, job)->loss, engine->scenario->workload->duration_ns[job]);
	double bar = search->tuner->error * MAX(1 - (phase + 1) * search->tuner->check_frac, 0);
	double draw = rng_unit(engine->tuning->forecasts, job, phase);
	double forecast = final * (1 + bar * (2 * draw - 1));

	return score_rank_of(forecast * (1 - bar)) > search->target_rank;
}

static void
settle_hyperdrive(Engine *engine, const Search *search, const JobId *reached, guint n_reached)
{
	for (guint i = 0; i < n_reached; i++) {
		trial_of(engine, reached[i])->n_reached++;
		if (misses_target(engine, search, reached[i]))
			stop(engine, reached[i]);
		else
			go_on(engine, reached[i]);
	}
}

/* The step */

gboolean
tuning_is_due(const Tuning *tuning)
{
	return tuning->touched->len > 0;
}

static void
settle_app(Engine *engine, Search *search, const JobId *reached, guint n_reached)
{
	search->is_touched = FALSE;
	switch (search->tuner->kind) {
	case TUNER_NONE:
		break;
	case TUNER_SUCCESSIVE_HALVING:
	case TUNER_HYPERBAND:
		settle_brackets(engine, search, reached, n_reached);
		break;
	case TUNER_ASHA:
		settle_asha(engine, search, reached, n_reached);
		break;
	case TUNER_HYPERDRIVE:
		settle_hyperdrive(engine, search, reached, n_reached);
		break;
	}
}

static int
compare_apps(const void *one, const void *other)
{
	AppId a = *(const AppId *)one, b = *(const AppId *)other;

	return a < b ? -1 : a > b;
}

static int
compare_reached(const void *one, const void *other, gpointer jobs)
{
	JobId a = *(const JobId *)one, b = *(const JobId *)other;
	AppId app_a = ((const Job *)jobs)[a].app, app_b = ((const Job *)jobs)[b].app;

	if (app_a != app_b)
		return app_a < app_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

void
tuning_settle(Engine *engine)
{
	GArray *touched = engine->tuning->touched, *reached = engine->tuning->reached;
	guint from = 0, to = 0;

	if (touched->len == 0)
		return;
	g_array_sort(touched, compare_apps);
	g_array_sort_with_data(reached, compare_reached, engine->scenario->workload->jobs);
	for (guint i = 0; i < touched->len; i++, from = to) {
		AppId app = g_array_index(touched, AppId, i);

		while (to < reached->len &&
		       engine_job(engine, g_array_index(reached, JobId, to))->app == app)
			to++;
		settle_app(engine, &engine->tuning->searches[app],
		           &g_array_index(reached, JobId, from), to - from);
	}
	g_array_set_size(touched, 0);
	g_array_set_size(reached, 0);
}

/* What is known of a trial */

guint32
tuning_max_gpus(const Engine *engine, JobId job)
{
	const Trial *trial = trial_of(engine, job);
	const Job *spec = engine_job(engine, job);

	if (trial->state == TRIAL_NONE)
		return spec->max_gpus;
	return tuner_max_gpus(search_of(engine, job)->tuner, spec, trial->phase);
}

SimWork
tuning_granted_ns(const Engine *engine, JobId job)
{
	const Trial *trial = trial_of(engine, job);

	if (trial->state != TRIAL_NONE && search_of(engine, job)->tuner->kind == TUNER_HYPERDRIVE)
		return engine->scenario->workload->duration_ns[job];
	return engine->runs[job].goal_ns;
}

SimWork
tuning_saved_ns(const Engine *engine, JobId job)
{
	const Trial *trial = trial_of(engine, job);

	if (trial->state == TRIAL_NONE || trial->phase == 0 ||
	    search_of(engine, job)->tuner->kind == TUNER_HYPERDRIVE)
		return 0;
	return goal_of(engine, job, trial->phase - 1);
}

guint64
tuning_demand_milli(const Engine *engine, AppId app)
{
	const Search *search = &engine->tuning->searches[app];
	guint n_phases = n_demands(search) / search->n_brackets;
	guint64 sum_milli = 0;

	for (guint bracket = 0; bracket < search->n_brackets; bracket++) {
		guint64 largest_milli = 0;

		for (guint phase = 0; phase < n_phases; phase++)
			largest_milli =
			    MAX(largest_milli, search->demand_milli[bracket * n_phases + phase]);
		sum_milli += largest_milli;
	}
	return sum_milli;
}

/* Forecasts */

static double
gpus_of(const Job *job, guint n_gpus)
{
	return (double)job_held_milli(job, n_gpus) / GPU_MILLI;
}

static int
compare_numbers(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* The mean of the middle two of an even number. */
static double
median_of(GArray *numbers)
{
	const double *sorted = &g_array_index(numbers, double, 0);

	g_array_sort(numbers, compare_numbers);
	return (sorted[(numbers->len - 1) / 2] + sorted[numbers->len / 2]) / 2;
}

/* What the trials of a bracket that are still there would do and use in @phase: the median. */
static Phase
median_phase(const Engine *engine, const Search *search, guint bracket, guint phase)
{
	g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) caps = g_array_new(FALSE, FALSE, sizeof(double));
	Phase median = { 0, 0 };

	for (guint i = 0; i < search->app->n_jobs; i++) {
		const Job *job = engine_job(engine, search->app->jobs[i]);
		const Trial *trial = trial_of(engine, job->id);
		double work_gpu_ns, cap_gpus;

		if (!is_alive(trial) || trial->bracket != bracket)
			continue;
		work_gpu_ns =
		    gpus_of(job, job->num_gpus) *
		    (double)(goal_of(engine, job->id, phase) - goal_of(engine, job->id, phase - 1));
		cap_gpus = gpus_of(job, tuner_max_gpus(search->tuner, job, phase));
		g_array_append_val(work, work_gpu_ns);
		g_array_append_val(caps, cap_gpus);
	}
	if (work->len > 0)
		median = (Phase){ median_of(work), median_of(caps) };
	return median;
}

/* What is left of the present phase to those of @bracket that are not paused. */
static Phase
present_phase(const Engine *engine, const Search *search, guint bracket)
{
	Phase present = { 0, 0 };

	for (guint i = 0; i < search->app->n_jobs; i++) {
		const Job *job = engine_job(engine, search->app->jobs[i]);
		const Trial *trial = trial_of(engine, job->id);
		SimWork left_ns;

		if (trial->state != TRIAL_TRAINS || trial->bracket != bracket)
			continue;
		left_ns = run_work_left_ns(engine, job->id) + /* in this order nothing overflows */
		          (tuning_granted_ns(engine, job->id) - engine->runs[job->id].goal_ns);
		present.work_gpu_ns += gpus_of(job, job->num_gpus) * (double)left_ns;
		present.cap_gpus += gpus_of(job, tuning_max_gpus(engine, job->id));
	}
	return present;
}

/* How many trials have entered @phase. */
static guint
n_entered(const Engine *engine, const Search *search, guint phase)
{
	guint n = 0;

	for (guint i = 0; i < search->app->n_jobs; i++) {
		const Trial *trial = trial_of(engine, search->app->jobs[i]);

		n += trial->state != TRIAL_NONE && trial->phase >= phase;
	}
	return n;
}

static guint
phase_of_bracket(const Engine *engine, const Search *search, guint bracket)
{
	guint phase = 0;

	for (guint i = 0; i < search->app->n_jobs; i++) {
		const Trial *trial = trial_of(engine, search->app->jobs[i]);

		if (is_alive(trial) && trial->bracket == bracket)
			phase = MAX(phase, trial->phase);
	}
	return phase;
}

static void
add_phase(Phase *phases, guint *n, guint place, Phase median, double n_trials)
{
	phases[place].work_gpu_ns += n_trials * median.work_gpu_ns;
	phases[place].cap_gpus += n_trials * median.cap_gpus;
	*n = MAX(*n, place + 1);
}

/* Nobody waits for others, so a later phase is what is still to enter it. */
static guint
forecast_asha(const Engine *engine, const Search *search, Phase *ret_phases)
{
	guint n_expected = search->n_trials, n = 0;

	add_phase(ret_phases, &n, 0, present_phase(engine, search, 0), 1);
	for (guint phase = 1; phase < search->n_phases; phase++) {
		guint n_there = n_entered(engine, search, phase);

		n_expected = tuner_n_survivors(search->tuner, n_expected);
		if (n_there < n_expected)
			add_phase(ret_phases, &n, n, median_phase(engine, search, 0, phase),
			          n_expected - n_there);
	}
	return n;
}

static guint
forecast_brackets(const Engine *engine, const Search *search, Phase *ret_phases)
{
	guint n = 0;

	for (guint bracket = 0; bracket < search->n_brackets; bracket++) {
		guint n_trials = n_alive(engine, search, bracket);
		guint now = phase_of_bracket(engine, search, bracket);
		guint n_phases = tuner_n_bracket_phases(search->tuner, search->n_phases, bracket);

		if (n_trials == 0)
			continue;
		add_phase(ret_phases, &n, 0, present_phase(engine, search, bracket), 1);
		for (guint phase = now + 1; phase < n_phases; phase++) {
			n_trials = tuner_n_survivors(search->tuner, n_trials);
			add_phase(ret_phases, &n, phase - now,
			          median_phase(engine, search, bracket, phase), n_trials);
		}
	}
	return n;
}

guint
tuning_forecast(const Engine *engine, AppId app, Phase *ret_phases)
{
	const Search *search = &engine->tuning->searches[app];

	for (guint i = 0; i < MAX_APP_PHASES; i++)
		ret_phases[i] = (Phase){ 0, 0 };
	if (!anybody(engine, search, TRIAL_TRAINS) && !anybody(engine, search, TRIAL_PAUSED))
		return 0;
	switch (search->tuner->kind) {
	case TUNER_NONE:
		break;
	case TUNER_HYPERDRIVE:
		ret_phases[0] = present_phase(engine, search, 0);
		return 1;
	case TUNER_ASHA:
		return forecast_asha(engine, search, ret_phases);
	case TUNER_SUCCESSIVE_HALVING:
	case TUNER_HYPERBAND:
		return forecast_brackets(engine, search, ret_phases);
	}
	g_assert_not_reached();
}

/* Invariants */

static TrialState
state_wanted(JobState state)
{
	switch (state) {
	case JOB_PENDING:
	case JOB_QUEUED:
	case JOB_RUNNING:
	case JOB_SUSPENDING:
		return TRIAL_TRAINS;
	case JOB_PAUSED:
		return TRIAL_PAUSED;
	case JOB_FINISHED:
	case JOB_REJECTED:
	case JOB_TIMEOUT:
	case JOB_FAILED:
	case JOB_UNFINISHED:
	case JOB_STOPPED:
		return TRIAL_GONE;
	}
	g_assert_not_reached();
}

char *
tuning_check(const Engine *engine)
{
	const Workload *workload = engine->scenario->workload;

	for (JobId job = 0; job < workload->n_jobs; job++) {
		const Trial *trial = trial_of(engine, job);
		const Run *run = &engine->runs[job];

		if (trial->state == TRIAL_NONE)
			continue;
		if (trial->state != state_wanted(engine->record->jobs[job].state))
			return g_strdup_printf("trial %s is not in the state its tuner thinks",
			                       workload->jobs[job].name);
		if (run->goal_ns != goal_of(engine, job, trial->phase))
			return g_strdup_printf("trial %s works for another phase than its own",
			                       workload->jobs[job].name);
		if (trial->state == TRIAL_PAUSED && (run->alloc.n > 0 || run->work_left_ns != 0))
			return g_strdup_printf("trial %s is paused in the middle of something",
			                       workload->jobs[job].name);
	}
	return NULL;
}
