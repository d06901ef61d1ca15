/* SPDX-License-Identifier: MIT */
#include "sim/model/overhead.h"

Overheads
overheads_of(const Overheads *run, const ModelTable *models, const Job *job)
{
	Overheads overheads = *run;
	const ModelSpec *model = job->model == MODEL_NONE ? NULL : &models->models[job->model];

	if (!model || !model->has_overheads)
		return overheads;
	overheads.start_ns = model->start_ns;
	overheads.suspend_ns = model->suspend_ns;
	overheads.resume_ns = model->resume_ns;
	overheads.migrate_ns = model->migrate_ns;
	return overheads;
}
