/* SPDX-License-Identifier: MIT */

/*
 * Training goes iteration by iteration. Where a job's iteration time is known, its iterations are
 * counted from the instant at which it began to work on the GPUs it holds; one that is given more
 * of them ends the iteration in progress first.
 */

#include "policies/greedy/state.h"

/* Rounding to nanoseconds must not turn the start of an iteration into the end of the one before.
 */
#define ROUNDING_NS 1000

static GpuTime
work_of_iteration(const Job *job)
{
	return (GpuTime)job->iteration_ns * job->num_gpus * SPEED_ONE_PPB;
}

SimTime
iterations_next_ns(const Greedy *greedy, const Job *job, SimTime now_ns)
{
	const GreedyJob *own = &greedy->jobs[job->id];
	GpuTime work = work_of_iteration(job), n;

	if (own->since_ns > now_ns || own->iterates_ppb == 0)
		return MAX(own->since_ns, now_ns);
	n = (GpuTime)(now_ns + ROUNDING_NS - own->since_ns) * own->iterates_ppb / work + 1;
	return own->since_ns + (SimTime)(n * work / own->iterates_ppb);
}

gboolean
iterations_go_on(const Greedy *greedy, const View *view, JobId job)
{
	const GreedyJob *own = &greedy->jobs[job];
	guint n = own->is_due || own->is_won ? own->n_kept : own->gpus.n;

	return n > 0 && view_state(view, job) == JOB_RUNNING;
}

SimWork
iterations_left_ns(const Job *job, SimWork left_ns)
{
	SimTime length_ns = job->iteration_ns;

	if (left_ns < ROUNDING_NS)
		return left_ns;
	return (left_ns - ROUNDING_NS + length_ns - 1) / length_ns * length_ns;
}

SimWork
iterations_begun_ns(const Job *job, SimWork done_ns)
{
	return ((done_ns + ROUNDING_NS) / job->iteration_ns + 1) * job->iteration_ns;
}

/* What a start or a move that this plan makes costs. */
static SimTime
overhead_ns(const View *view, const Job *job)
{
	const Overheads costs = view_overheads(view, job->id);

	if (view_state(view, job->id) != JOB_RUNNING)
		return view_n_starts(view, job->id) > 0 ? costs.resume_ns : costs.start_ns;
	if (alloc_equal(view_alloc(view, job->id), view_last_alloc(view, job->id)))
		return 0;
	return costs.migrate_ns;
}

void
iterations_book(Greedy *greedy, const View *view, const Job *job)
{
	GreedyJob *own = &greedy->jobs[job->id];
	const Alloc *has = view_alloc(view, job->id);
	SimTime now_ns = view_now_ns(view);

	if (has->n == 0 || job->iteration_ns == 0 || job->share_milli != GPU_MILLI)
		return;
	if (!own->is_due && iterations_go_on(greedy, view, job->id))
		own->since_ns = iterations_next_ns(greedy, job, now_ns);
	else
		own->since_ns = time_add(now_ns, overhead_ns(view, job));
	own->iterates_ppb = stock_rate_ppb(view, job, has);
}
