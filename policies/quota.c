/* SPDX-License-Identifier: MIT */

/*
 * Quotas of tenants (virtual clusters), with borrowing and reclaim (policies.md 4.3). What a tenant
 * runs within its quota is guaranteed; beyond it, it may borrow what nobody uses. A job that is
 * within its tenant's quota and does not fit takes GPUs back from borrowers.
 */

#include "sim/policy.h"

#include <string.h>

#define TAG_RECLAIM 0

typedef struct QuotaOptions {
	PlacementOptions placement;
	char *quotas;
	double borrow_limit_gpus;
	double lend_limit_frac;
	SimTime reclaim_grace_ns;
} QuotaOptions;

typedef struct Account {
	char *tenant;
	guint64 quota_milli;
	guint64 own_milli;      /* guaranteed and in use */
	guint64 borrowed_milli; /* in use beyond */
} Account;

/* What is known of a job that is here. */
typedef struct Standing {
	guint account;
	gboolean is_borrower; /* while it runs */
	gboolean is_owed;     /* it is within the quota and does not fit, since: */
	SimTime owed_since_ns;
	gboolean is_reclaiming; /* jobs have been stopped for it */
} Standing;

typedef struct Quota {
	const QuotaOptions *options;
	const ClusterSpec *spec;
	GArray *accounts;    /* of Account; those with a quota first */
	Standing *standings; /* by JobId */
	GArray *active;      /* of JobId, ascending */
	GArray *new;         /* of JobId: have come since the last decision */
	GArray *borrowers;   /* of JobId that run, the oldest first */
	GArray *victims;     /* of JobId, the youngest first */
	GArray *best;        /* of JobId: the victims of the best machine so far */
	Cluster *scratch;
	Alloc where;
	gboolean is_owing; /* nothing is lent while GPUs are being taken back */
} Quota;

static Account *
account(const Quota *quota, guint index)
{
	return &g_array_index(quota->accounts, Account, index);
}

static guint64
milli_of(const Job *job)
{
	return job_held_milli(job, job->num_gpus);
}

/* quotas */

static guint
find_account(const Quota *quota, const char *tenant)
{
	guint i = 0;

	while (i < quota->accounts->len && strcmp(account(quota, i)->tenant, tenant) != 0)
		i++;
	return i;
}

static void
add_account(Quota *quota, const char *tenant, guint64 quota_gpus)
{
	Account new = {
		.tenant = g_strdup(tenant),
		.quota_milli = quota_gpus * GPU_MILLI,
	};

	g_array_append_val(quota->accounts, new);
}

/* One `tenant=GPUs` of the option. */
static gboolean
add_given(Quota *quota, char *item, GError **error)
{
	char *equals = strrchr(item, '=');
	guint64 gpus = 0;

	if (equals != NULL)
		*equals = '\0';
	if (equals == NULL ||
	    !g_ascii_string_to_unsigned(equals + 1, 10, 0, G_MAXUINT32, &gpus, NULL)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "quotas: found \"%s\", wanted TENANT=GPUS, as in [vc1=64,vc2=192]",
		            equals != NULL ? equals + 1 : item);
		return FALSE;
	}
	if (find_account(quota, item) < quota->accounts->len) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "quotas: found \"%s\" twice, wanted one quota a tenant", item);
		return FALSE;
	}
	add_account(quota, item, gpus);
	return TRUE;
}

static gboolean
read_given(Quota *quota, const char *text, GError **error)
{
	gsize length = strlen(text);
	gboolean has_brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
	g_autofree char *bare = g_strndup(text + has_brackets, length - 2 * has_brackets);
	g_auto(GStrv) items = g_strsplit(bare, ",", 0);

	for (guint i = 0; items[i] != NULL; i++)
		if (!add_given(quota, g_strstrip(items[i]), error))
			return FALSE;
	return TRUE;
}

static gboolean
read_quotas(Quota *quota, GError **error)
{
	if (strcmp(quota->options->quotas, "cluster") != 0)
		return read_given(quota, quota->options->quotas, error);
	if (quota->spec->n_tenants == 0) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "quotas: found no tenants in the cluster's file, wanted some there, or "
		            "quotas=[TENANT=GPUS,...]");
		return FALSE;
	}
	for (guint i = 0; i < quota->spec->n_tenants; i++)
		add_account(quota, quota->spec->tenants[i].name,
		            quota->spec->tenants[i].quota_gpus);
	return TRUE;
}

/* books */

static void
forget(Quota *quota, JobId job)
{
	guint at = 0;

	while (g_array_index(quota->active, JobId, at) != job)
		at++;
	g_array_remove_index(quota->active, at);
}

static gboolean
is_running(const View *view, JobId job)
{
	return view_state(view, job) != JOB_SUSPENDING && view_alloc(view, job)->n > 0;
}

static gboolean
is_waiting(const View *view, JobId job)
{
	return view_state(view, job) != JOB_SUSPENDING && view_alloc(view, job)->n == 0;
}

static int
compare_starts(gconstpointer one, gconstpointer other, gpointer view)
{
	JobId a = *(const JobId *)one, b = *(const JobId *)other;
	SimTime a_ns = view_started_ns(view, a), b_ns = view_started_ns(view, b);

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Who uses what. */
static void
tally(Quota *quota, const View *view)
{
	for (guint i = 0; i < quota->accounts->len; i++)
		account(quota, i)->own_milli = account(quota, i)->borrowed_milli = 0;
	g_array_set_size(quota->borrowers, 0);
	for (guint i = 0; i < quota->active->len; i++) {
		JobId job = g_array_index(quota->active, JobId, i);
		Standing *standing = &quota->standings[job];
		Account *own = account(quota, standing->account);

		if (!is_running(view, job))
			continue;
		if (standing->is_borrower) {
			own->borrowed_milli += milli_of(view_job(view, job));
			g_array_append_val(quota->borrowers, job);
		} else {
			own->own_milli += milli_of(view_job(view, job));
		}
	}
	g_array_sort_with_data(quota->borrowers, compare_starts, (gpointer)(gsize)view);
}

static gboolean
is_within_quota(const Quota *quota, const Job *job)
{
	const Account *own = account(quota, quota->standings[job->id].account);

	return own->own_milli + milli_of(job) <= own->quota_milli;
}

/* A tenant's borrowers come under its quota as far as that has room, the oldest first: nobody is
 * stopped who need not be where he is on borrowed GPUs. */
static void
promote(Quota *quota, const View *view)
{
	guint n = 0;

	for (guint i = 0; i < quota->borrowers->len; i++) {
		JobId id = g_array_index(quota->borrowers, JobId, i);
		const Job *job = view_job(view, id);
		Account *own = account(quota, quota->standings[id].account);

		if (is_within_quota(quota, job)) {
			quota->standings[id].is_borrower = FALSE;
			own->borrowed_milli -= milli_of(job);
			own->own_milli += milli_of(job);
		} else {
			g_array_index(quota->borrowers, JobId, n++) = id;
		}
	}
	g_array_set_size(quota->borrowers, n);
}

static gboolean
start(Quota *quota, const View *view, Plan *plan, const Job *job, gboolean is_borrower)
{
	Standing *standing = &quota->standings[job->id];
	Account *own = account(quota, standing->account);

	if (!placement_find(view, job, job->num_gpus, &quota->options->placement, &quota->where) ||
	    plan_place(plan, job->id, &quota->where) != PLAN_OK)
		return FALSE;
	standing->is_borrower = is_borrower;
	standing->is_owed = standing->is_reclaiming = FALSE;
	*(is_borrower ? &own->borrowed_milli : &own->own_milli) += milli_of(job);
	return TRUE;
}

/* victims */

/* The cluster as it is, to try on it what would be. */
static void
fill_scratch(Quota *quota, const View *view)
{
	cluster_free(quota->scratch);
	quota->scratch = cluster_new(quota->spec);
	for (guint i = 0; i < quota->active->len; i++) {
		JobId job = g_array_index(quota->active, JobId, i);

		if (view_alloc(view, job)->n > 0)
			cluster_take(quota->scratch, view_job(view, job), view_alloc(view, job));
	}
}

static gboolean
fits_on(const Quota *quota, const View *view, const Job *job, guint32 machine)
{
	return placement_type_will_do(view, job, quota->spec->machines[machine].type) &&
	       cluster_machine_room(quota->scratch, machine, job) >= job->num_gpus;
}

/* On one machine, or with G_MAXUINT32 anywhere. */
static gboolean
fits(Quota *quota, const View *view, const Job *job, guint32 machine)
{
	if (machine != G_MAXUINT32)
		return fits_on(quota, view, job, machine);
	return placement_find_on(quota->scratch, view, job, job->num_gpus,
	                         &quota->options->placement, &quota->where);
}

static gboolean
touches(const Quota *quota, const Alloc *gpus, guint32 machine)
{
	for (guint i = 0; i < gpus->n; i++)
		if (machine == G_MAXUINT32 || quota->spec->machine_of[gpus->gpus[i]] == machine)
			return TRUE;
	return FALSE;
}

static void
give_back(Quota *quota, const View *view, JobId victim)
{
	cluster_give(quota->scratch, view_job(view, victim), view_alloc(view, victim));
}

/* Who can be spared, the oldest first: he keeps his GPUs. */
static void
spare(Quota *quota, const View *view, const Job *job, guint32 machine)
{
	for (guint i = quota->victims->len; i-- > 0;) {
		JobId victim = g_array_index(quota->victims, JobId, i);
		const Alloc *gpus = view_alloc(view, victim);

		cluster_take(quota->scratch, view_job(view, victim), gpus);
		if (fits(quota, view, job, machine))
			g_array_remove_index(quota->victims, i);
		else
			give_back(quota, view, victim);
	}
}

/* Borrowers whose GPUs suffice, the youngest first, and none that could be spared; they are given
 * back to the scratch cluster only while this looks. */
static gboolean
find_victims(Quota *quota, const View *view, const Job *job, guint32 machine)
{
	gboolean is_enough = FALSE;

	g_array_set_size(quota->victims, 0);
	for (guint i = quota->borrowers->len; i-- > 0 && !is_enough;) {
		JobId victim = g_array_index(quota->borrowers, JobId, i);

		if (!is_running(view, victim) || !touches(quota, view_alloc(view, victim), machine))
			continue;
		g_array_append_val(quota->victims, victim);
		give_back(quota, view, victim);
		is_enough = fits(quota, view, job, machine);
	}
	if (is_enough)
		spare(quota, view, job, machine);
	for (guint i = 0; i < quota->victims->len; i++) {
		JobId victim = g_array_index(quota->victims, JobId, i);

		cluster_take(quota->scratch, view_job(view, victim), view_alloc(view, victim));
	}
	return is_enough;
}

static guint64
victims_milli(const Quota *quota, const View *view)
{
	guint64 milli = 0;

	for (guint i = 0; i < quota->victims->len; i++)
		milli += milli_of(view_job(view, g_array_index(quota->victims, JobId, i)));
	return milli;
}

/* The machine on which the fewest GPUs have to be taken back; its victims are in best. */
static gboolean
find_victims_on_a_machine(Quota *quota, const View *view, const Job *job)
{
	guint64 least_milli = G_MAXUINT64;

	if (job->num_gpus > quota->spec->max_machine_gpus ||
	    quota->options->placement.max_level == LEVEL_SLOT)
		return FALSE;
	for (guint32 machine = 0; machine < quota->spec->n_machines; machine++)
		if (quota->spec->machines[machine].n_gpus >= job->num_gpus &&
		    find_victims(quota, view, job, machine) &&
		    victims_milli(quota, view) < least_milli) {
			least_milli = victims_milli(quota, view);
			g_array_set_size(quota->best, 0);
			g_array_append_vals(quota->best, quota->victims->data, quota->victims->len);
		}
	return least_milli < G_MAXUINT64;
}

/* Leaves in best whom to stop for @job; FALSE if that would not be enough. */
static gboolean
choose_victims(Quota *quota, const View *view, const Job *job)
{
	guint64 most_milli =
	    (guint64)quota->spec->n_gpus * GPU_MILLI - view_cluster(view)->held_milli;

	for (guint i = 0; i < quota->borrowers->len; i++)
		most_milli += milli_of(view_job(view, g_array_index(quota->borrowers, JobId, i)));
	if (quota->borrowers->len == 0 || most_milli < milli_of(job))
		return FALSE;
	fill_scratch(quota, view);
	if (find_victims_on_a_machine(quota, view, job))
		return TRUE;
	if (!find_victims(quota, view, job, G_MAXUINT32))
		return FALSE;
	g_array_set_size(quota->best, 0);
	g_array_append_vals(quota->best, quota->victims->data, quota->victims->len);
	return TRUE;
}

static void
stop_victims(Quota *quota, const View *view, Plan *plan)
{
	for (guint i = 0; i < quota->best->len; i++) {
		JobId victim = g_array_index(quota->best, JobId, i);
		Account *own = account(quota, quota->standings[victim].account);

		own->borrowed_milli -= milli_of(view_job(view, victim));
		plan_preempt(plan, victim);
	}
}

/* handing out */

/* The job has a right to GPUs that others have borrowed: at once, or when their time is up. */
static void
reclaim(Quota *quota, const View *view, Plan *plan, const Job *job)
{
	Standing *standing = &quota->standings[job->id];
	SimTime due_ns;

	if (standing->is_reclaiming && view_n_suspending_gpus(view) > 0) {
		quota->is_owing = TRUE;
		return;
	}
	if (!choose_victims(quota, view, job))
		return;
	if (!standing->is_owed)
		standing->owed_since_ns = view_now_ns(view);
	standing->is_owed = TRUE;
	due_ns = time_add(standing->owed_since_ns, quota->options->reclaim_grace_ns);
	if (view_now_ns(view) < due_ns) {
		plan_wake(plan, due_ns, TAG_RECLAIM);
		quota->is_owing = TRUE;
		return;
	}
	stop_victims(quota, view, plan);
	standing->is_reclaiming = TRUE;
	if (!start(quota, view, plan, job, FALSE))
		quota->is_owing = TRUE;
}

static void
serve_quotas(Quota *quota, const View *view, Plan *plan)
{
	quota->is_owing = FALSE;
	for (guint i = 0; i < quota->active->len; i++) {
		const Job *job = view_job(view, g_array_index(quota->active, JobId, i));

		if (!is_waiting(view, job->id) || !is_within_quota(quota, job))
			continue;
		if (!start(quota, view, plan, job, FALSE))
			reclaim(quota, view, plan, job);
	}
}

/* GPUs beyond all quotas. */
static guint64
nobodys_milli(const Quota *quota)
{
	guint64 all_milli = (guint64)quota->spec->n_gpus * GPU_MILLI, quotas_milli = 0;

	for (guint i = 0; i < quota->accounts->len; i++)
		quotas_milli += account(quota, i)->quota_milli;
	return all_milli > quotas_milli ? all_milli - quotas_milli : 0;
}

static guint64
lent_at_most_milli(const Quota *quota, const Account *own)
{
	return (guint64)(quota->options->lend_limit_frac * (double)own->quota_milli);
}

/* GPUs that may be on loan, all together: what is nobody's, and of each quota what its tenant does
 * not use, up to what it lends. */
static guint64
lendable_milli(const Quota *quota)
{
	guint64 lent_milli = nobodys_milli(quota);

	for (guint i = 0; i < quota->accounts->len; i++) {
		const Account *own = account(quota, i);

		lent_milli +=
		    MIN(lent_at_most_milli(quota, own), own->quota_milli - own->own_milli);
	}
	return lent_milli;
}

static void
serve_borrowers(Quota *quota, const View *view, Plan *plan)
{
	guint64 free_milli = lendable_milli(quota), lent_milli = 0;

	for (guint i = 0; i < quota->accounts->len; i++)
		lent_milli += account(quota, i)->borrowed_milli;
	for (guint i = 0; i < quota->active->len; i++) {
		const Job *job = view_job(view, g_array_index(quota->active, JobId, i));
		const Account *own = account(quota, quota->standings[job->id].account);
		double borrowed_milli = (double)(own->borrowed_milli + milli_of(job));

		if (!is_waiting(view, job->id) || lent_milli + milli_of(job) > free_milli ||
		    borrowed_milli > quota->options->borrow_limit_gpus * GPU_MILLI)
			continue;
		if (start(quota, view, plan, job, TRUE))
			lent_milli += milli_of(job);
	}
}

/* Whether the job is too wide for its tenant's quota, and for the limits even if nobody else were
 * here. */
static gboolean
is_hopeless(const Quota *quota, const Job *job)
{
	const Account *own = account(quota, quota->standings[job->id].account);
	guint64 most_milli = 0;

	for (guint i = 0; i < quota->accounts->len; i++)
		most_milli += lent_at_most_milli(quota, account(quota, i));
	return milli_of(job) > own->quota_milli &&
	       (milli_of(job) > most_milli + nobodys_milli(quota) ||
	        (double)milli_of(job) > quota->options->borrow_limit_gpus * GPU_MILLI);
}

static void
reject_hopeless(Quota *quota, Plan *plan, const View *view)
{
	for (guint i = 0; i < quota->new->len; i++) {
		JobId job = g_array_index(quota->new, JobId, i);

		if (!is_hopeless(quota, view_job(view, job)))
			continue;
		plan_reject(plan, job,
		            "more GPUs than the quota of its tenant, and than the "
		            "limits to borrowing and lending ever allow");
		forget(quota, job);
	}
	g_array_set_size(quota->new, 0);
}

/* the contract */

static void
quota_arrived(void *self, const View *view, const Job *job)
{
	Quota *quota = self;
	guint at = quota->active->len;

	while (at > 0 && g_array_index(quota->active, JobId, at - 1) > job->id)
		at--;
	g_array_insert_val(quota->active, at, job->id);
	quota->standings[job->id] = (Standing){ .account = find_account(quota, job->tenant) };
	if (quota->standings[job->id].account == quota->accounts->len)
		add_account(quota, job->tenant, 0);
	if (view_n_starts(view, job->id) == 0)
		g_array_append_val(quota->new, job->id);
}

static void
quota_completed(void *self, const View *view, const Job *job)
{
	forget(self, job->id);
}

static void
quota_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Quota *quota = self;

	reject_hopeless(quota, plan, view);
	tally(quota, view);
	promote(quota, view);
	serve_quotas(quota, view, plan);
	if (!quota->is_owing)
		serve_borrowers(quota, view, plan);
}

static void
clear_account(gpointer item)
{
	g_free(((Account *)item)->tenant);
}

static gboolean
quota_init(void *self, const void *options, const View *view, GError **error)
{
	Quota *quota = self;

	quota->options = options;
	quota->spec = view_cluster_spec(view);
	quota->accounts = g_array_new(FALSE, FALSE, sizeof(Account));
	g_array_set_clear_func(quota->accounts, clear_account);
	if (!read_quotas(quota, error))
		return FALSE;
	quota->standings = g_new0(Standing, view_n_jobs(view));
	quota->active = g_array_new(FALSE, FALSE, sizeof(JobId));
	quota->new = g_array_new(FALSE, FALSE, sizeof(JobId));
	quota->borrowers = g_array_new(FALSE, FALSE, sizeof(JobId));
	quota->victims = g_array_new(FALSE, FALSE, sizeof(JobId));
	quota->best = g_array_new(FALSE, FALSE, sizeof(JobId));
	return TRUE;
}

static void
quota_finish(void *self)
{
	Quota *quota = self;

	g_clear_pointer(&quota->accounts, g_array_unref);
	g_free(quota->standings);
	g_clear_pointer(&quota->active, g_array_unref);
	g_clear_pointer(&quota->new, g_array_unref);
	g_clear_pointer(&quota->borrowers, g_array_unref);
	g_clear_pointer(&quota->victims, g_array_unref);
	g_clear_pointer(&quota->best, g_array_unref);
	cluster_free(quota->scratch);
	alloc_clear(&quota->where);
}

static PlacementLevel
quota_max_level(const void *options)
{
	return (PlacementLevel)((const QuotaOptions *)options)->placement.max_level;
}

static const Option quota_options[] = {
	{ .name = "quotas",
	  .kind = OPTION_TEXT,
	  .offset = G_STRUCT_OFFSET(QuotaOptions, quotas),
	  .standard = "cluster",
	  .help =
	      "GPUs by tenant, as [vc1=64,vc2=192]; cluster: the tenants of the cluster's file" },
	{ .name = "borrow_limit_gpus",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(QuotaOptions, borrow_limit_gpus),
	  .standard = "off",
	  .min = 0,
	  .may_be_off = TRUE,
	  .help = "GPUs that a tenant may hold beyond its quota" },
	{ .name = "lend_limit_frac",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(QuotaOptions, lend_limit_frac),
	  .standard = "1",
	  .min = 0,
	  .max = 1,
	  .help = "the part of each quota that may be lent while its tenant does not use it" },
	{ .name = "reclaim_grace_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(QuotaOptions, reclaim_grace_ns),
	  .standard = "0",
	  .min = 0,
	  .help = "how long a job within its quota waits for borrowed GPUs before it takes them" },
	PLACEMENT_OPTION_ROWS(QuotaOptions, placement),
	{ 0 },
};

const PolicyClass quota_policy = {
	.abi = POLICY_ABI,
	.name = "quota",
	.version = "1",
	.summary = "quotas of tenants, with borrowing of what is idle, and reclaim",
	.source = "Jeon et al., Analysis of large-scale multi-tenant GPU clusters, ATC'19; Zhao et "
	          "al., HiveD, OSDI'20",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = quota_options,
	.options_size = sizeof(QuotaOptions),
	.state_size = sizeof(Quota),
	.init = quota_init,
	.arrived = quota_arrived,
	.completed = quota_completed,
	.decide = quota_decide,
	.finish = quota_finish,
	.max_level = quota_max_level,
	.idea =
	    "A job is guaranteed if it and what its tenant runs under guarantee are within the "
	    "tenant's quota; else it is opportunistic and may start on GPUs that nobody uses, as "
	    "far "
	    "as the limits to borrowing and lending allow. Jobs go in the order of their "
	    "submission, guaranteed ones first, passing over those that do not fit. A guaranteed "
	    "one that does not fit stops opportunistic ones: on the machine where that costs "
	    "the fewest GPUs, if one machine can hold it, else anywhere; the youngest first, "
	    "and none that can be spared. While it waits for them nothing more is lent. When a "
	    "tenant's quota has room again its opportunistic jobs come under it, the oldest first. "
	    "A tenant that is not named has no quota. A job that is too wide for its tenant's "
	    "quota "
	    "and for the limits is rejected.",
};
