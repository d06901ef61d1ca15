/* SPDX-License-Identifier: MIT */

#include "policies/themis/rates.h"

static gint64
times_ppb(gint64 one, gint64 other_ppb)
{
	return (gint64)((__int128)one * other_ppb / SPEED_ONE_PPB);
}

/* Linear widths are counted, not computed: 3 x 1/3 is 1. */
static gint64
width_rate_ppb(const View *view, const Job *job, guint n_gpus)
{
	const ModelTable *models = view_models(view);

	if (job->share_milli != GPU_MILLI)
		return n_gpus * (SPEED_ONE_PPB / GPU_MILLI) * job->share_milli;
	if (n_gpus == job->num_gpus || job->model == MODEL_NONE ||
	    models->models[job->model].scaling->len == 0)
		return n_gpus * SPEED_ONE_PPB;
	return job->num_gpus * speed_scaling_ppb(models, job, n_gpus);
}

gint64
rate_at_ppb(const View *view, const Job *job, guint n_gpus, guint type, PlacementLevel level)
{
	const ModelTable *models = view_models(view);
	gint64 rate_ppb = width_rate_ppb(view, job, n_gpus);

	rate_ppb = times_ppb(rate_ppb, speed_placement_ppb(models, job->model, level));
	return times_ppb(rate_ppb, speed_type_ppb(models, view_cluster_spec(view), job, type));
}

gint64
rate_on_ppb(const View *view, const Job *job, const Alloc *where)
{
	const ClusterSpec *spec = view_cluster_spec(view);
	guint type;

	if (where->n == 0)
		return 0;
	type = spec->machines[spec->machine_of[where->gpus[0]]].type;
	return rate_at_ppb(view, job, where->n, type, cluster_spec_level(spec, where));
}

gint64
rate_best_ppb(const View *view, const Job *job, guint n_gpus)
{
	gint64 best_ppb = 0;

	for (guint type = 0; type < view_cluster_spec(view)->n_types; type++)
		if (placement_type_will_do(view, job, type))
			best_ppb = MAX(best_ppb, rate_at_ppb(view, job, n_gpus, type, LEVEL_SLOT));
	return best_ppb;
}
