/* SPDX-License-Identifier: MIT */

#include "policies/themis/claims.h"
#include "policies/themis/rates.h"

/* Jobs that ask for the same have the same choices. */
typedef struct KnownChoices {
	guint32 n_gpus, num_gpus, model, gpu_mem_mib, share_milli;
	guint64 gpu_types;
	AgentId agent; /* where estimates differ from one to the next; else 0 */
	guint32 first, n;
} KnownChoices;

/* The choices of one piece, in Claims.bids. */
typedef struct Choices {
	guint32 first, n;
} Choices;

Claims *
claims_new(Agents *agents, Offer *offer, Bids *bids)
{
	Claims *claims = g_new0(Claims, 1);

	claims->agents = agents;
	claims->offer = offer;
	claims->bids = bids;
	claims->claims = g_array_new(FALSE, FALSE, sizeof(Claim));
	claims->known = g_array_new(FALSE, FALSE, sizeof(KnownChoices));
	claims->scratch = g_array_new(FALSE, FALSE, sizeof(Choice));
	claims->by_work = g_array_new(FALSE, FALSE, sizeof(guint));
	return claims;
}

void
claims_free(Claims *claims)
{
	if (claims == NULL)
		return;
	g_array_unref(claims->claims);
	g_array_unref(claims->known);
	g_array_unref(claims->scratch);
	g_array_unref(claims->by_work);
	g_free(claims);
}

void
claims_open(Claims *claims, const View *view)
{
	claims->view = view;
	g_array_set_size(claims->claims, 0);
	g_array_set_size(claims->known, 0);
	bids_reset(claims->bids);
}

/* claims */

static GpuTime
work_left(const View *view, const Job *job)
{
	SimWork left_ns = 0;

	view_remaining_ns(view, job->id, &left_ns);
	return (GpuTime)left_ns * job_held_milli(job, job->num_gpus);
}

/* Of a running job: how many of its GPUs have come back, and what the others amount to. */
static void
split_held(const Claims *claims, Claim *claim)
{
	const Alloc *gpus = &claim->own->gpus;
	Alloc kept = { 0 };

	claim->kept_ppb = claim->own->rate_ppb;
	for (guint i = 0; i < gpus->n; i++)
		claim->n_back += claims->offer->former[gpus->gpus[i]] == claim->job;
	claim->n_kept = gpus->n - claim->n_back;
	claim->was_held = claim->n_back > 0;
	if (claim->n_back == 0)
		return;
	for (guint i = 0; claim->n_kept > 0 && i < gpus->n; i++)
		if (claims->offer->former[gpus->gpus[i]] != claim->job)
			alloc_add(&kept, gpus->gpus[i]);
	claim->kept_ppb = rate_on_ppb(claims->view, view_job(claims->view, claim->job), &kept);
	alloc_clear(&kept);
}

/* Of a job that has just been released: what it had (B04). */
static void
look_back(const Claims *claims, Claim *claim)
{
	claim->was_held = claim->own->left_ns == view_now_ns(claims->view);
	if (claim->was_held)
		claim->n_back = view_last_alloc(claims->view, claim->job)->n;
}

/* Returns what the job keeps. */
static gint64
add_claim(Claims *claims, JobId job)
{
	Claim claim = { .job = job, .own = agents_job(claims->agents, job), .place = PLACE_NONE };

	if (claim.own->gpus.n > 0)
		split_held(claims, &claim);
	else
		look_back(claims, &claim);
	if (claim.own->min_gpus < claim.own->max_gpus ||
	    claims->agents->options->jobs == JOB_ORDER_LONGEST)
		claim.work = work_left(claims->view, view_job(claims->view, job));
	if (claim.n_kept + claim.own->step_gpus <= claim.own->max_gpus)
		g_array_append_val(claims->claims, claim);
	return claim.kept_ppb;
}

static int
compare_claims(gconstpointer one, gconstpointer other)
{
	const Claim *a = one, *b = other;

	if (a->was_held != b->was_held)
		return a->was_held ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* jobs=longest: of those that hold nothing and held nothing. */
static int
compare_longest(gconstpointer one, gconstpointer other)
{
	const Claim *a = one, *b = other;

	if (!a->was_held && !b->was_held && a->work != b->work)
		return a->work > b->work ? -1 : 1;
	return compare_claims(one, other);
}

ClaimRange
claims_add(Claims *claims, const Agent *agent, gint64 *ret_kept_ppb)
{
	ClaimRange range = { .first = claims->claims->len };
	gint64 kept_ppb = 0;

	for (guint i = 0; i < agent->running->len; i++)
		kept_ppb += add_claim(claims, g_array_index(agent->running, JobId, i));
	for (guint i = 0; i < agent->queued->len; i++)
		add_claim(claims, g_array_index(agent->queued, JobId, i));
	range.n = claims->claims->len - range.first;
	if (range.n > 1)
		qsort(claims_get(claims, range.first), range.n, sizeof(Claim),
		      claims->agents->options->jobs == JOB_ORDER_LONGEST ? compare_longest
		                                                         : compare_claims);
	*ret_kept_ppb = kept_ppb;
	return range;
}

static gboolean
is_rigid(const Claim *claim)
{
	return claim->own->min_gpus == claim->own->max_gpus;
}

/* The least that a claim takes at once when it has @n_gpus beside those kept (A74). */
static guint32
unit_gpus(const Claim *claim, guint32 n_gpus)
{
	return claim->n_kept + n_gpus == 0 ? claim->own->min_gpus : claim->own->step_gpus;
}

static guint32
most_gpus(const Claim *claim)
{
	return claim->own->max_gpus - claim->n_kept;
}

/* choices */

/* By falling rate; of equal ones the earlier added first. */
static void
add_choice(GArray *choices, gint64 rate_ppb, PlaceRange range)
{
	Choice choice = { rate_ppb, range };
	guint at = choices->len;

	while (at > 0 && g_array_index(choices, Choice, at - 1).rate_ppb < rate_ppb)
		at--;
	if (rate_ppb > 0)
		g_array_insert_val(choices, at, choice);
}

/* The GPUs that a claim goes on from: those kept; else those that came back; else none. */
static const Alloc *
home_of(const Claims *claims, const Claim *claim)
{
	if (claim->own->gpus.n > 0)
		return &claim->own->gpus;
	return claim->was_held ? view_last_alloc(claims->view, claim->job) : NULL;
}

/* The place of @level that holds all of the claim's home; PLACE_NONE if there is none. */
static guint32
home_place(const Claims *claims, const Claim *claim, guint type, PlacementLevel level)
{
	const Alloc *home = home_of(claims, claim);
	const ClusterSpec *spec = claims->offer->spec;
	guint32 place = PLACE_NONE;

	if (home == NULL || home->n == 0 ||
	    spec->machines[spec->machine_of[home->gpus[0]]].type != type)
		return PLACE_NONE;
	for (guint i = 0; i < home->n; i++) {
		guint32 next = offer_place_of(claims->offer, home->gpus[i], level);

		if (claim->n_kept > 0 && claims->offer->former[home->gpus[i]] == claim->job)
			continue; /* of those that go on, only the kept ones bind */
		if (place != PLACE_NONE && next != place)
			return PLACE_NONE;
		place = next;
	}
	return place;
}

/* What @n_gpus amount to, as the agent thinks: its estimate of the slowdown may be wrong. */
static gint64
estimate_ppb(const Claims *claims, const Job *job, guint n_gpus, guint type, PlacementLevel level)
{
	const Agent *agent = agents_of(claims->agents, job);
	gint64 rate_ppb, best_ppb;

	if (n_gpus == 1 || claims->is_blind ||
	    (level == LEVEL_MACHINE && !claims->offer->has_slots))
		level = LEVEL_SLOT;
	rate_ppb = rate_at_ppb(claims->view, job, n_gpus, type, level);
	if (agent->slowdown_error == 0 || level == LEVEL_SLOT)
		return rate_ppb;
	best_ppb = rate_at_ppb(claims->view, job, n_gpus, type, LEVEL_SLOT);
	return MIN((gint64)((double)rate_ppb / (1 + agent->slowdown_error)), best_ppb);
}

/* What a stop and a start leave of a lease (option bid_restart). */
static gint64
after_restart_ppb(const Claims *claims, const Claim *claim, gint64 rate_ppb)
{
	const ThemisOptions *options = claims->agents->options;
	Overheads overheads;
	SimTime cost_ns;

	if (!options->bid_restart)
		return rate_ppb;
	overheads = view_overheads(claims->view, claim->job);
	cost_ns = claim->own->gpus.n > 0 ? overheads.migrate_ns : overheads.resume_ns;
	return (gint64)((__int128)rate_ppb * (options->lease_ns - cost_ns) / options->lease_ns);
}

/* The levels of which a gang may be: a single GPU is at home anywhere. Who takes no notice of
 * places sees the widest alone. */
static PlacementLevel
last_level(const Claims *claims, guint n_gpus)
{
	PlacementLevel max_level = (PlacementLevel)claims->agents->options->max_level;

	if (n_gpus == 1)
		return LEVEL_CLUSTER;
	return MAX(max_level, claims->offer->has_slots ? LEVEL_SLOT : LEVEL_MACHINE);
}

static PlacementLevel
first_level(const Claims *claims, guint n_gpus)
{
	if (claims->is_blind)
		return last_level(claims, n_gpus);
	return claims->offer->has_slots ? LEVEL_SLOT : LEVEL_MACHINE;
}

/* A level of one type: where the claim was, and, if it need not stay there, anywhere. */
static void
add_level(Claims *claims, const Claim *claim, guint n_gpus, guint type, PlacementLevel level,
          gint64 rate_ppb)
{
	guint32 home = home_place(claims, claim, type, level);
	PlaceRange range = offer_range(claims->offer, type, level);
	gint64 moved_ppb = after_restart_ppb(claims, claim, rate_ppb) - claim->kept_ppb;
	gboolean may_stay = n_gpus == claim->n_back && claim->own->gpus.n > 0;

	if (home != PLACE_NONE && claims->offer->n_left[home] >= n_gpus)
		add_choice(claims->scratch, may_stay ? rate_ppb - claim->kept_ppb : moved_ppb,
		           (PlaceRange){ home, home + 1 });
	if (claim->n_kept > 0 || offer_most_left(claims->offer, type, level) < n_gpus)
		return;
	if (home == PLACE_NONE || range.end > range.first + 1 || moved_ppb != rate_ppb)
		add_choice(claims->scratch, moved_ppb, range);
}

/* Levels that are no better than the next wider one are left to it. */
static void
add_type(Claims *claims, const Claim *claim, guint n_gpus, guint type)
{
	const Job *job = view_job(claims->view, claim->job);
	guint n = claim->n_kept + n_gpus;
	PlacementLevel last = last_level(claims, n);

	for (PlacementLevel level = first_level(claims, n); level <= last; level++) {
		gint64 rate_ppb = estimate_ppb(claims, job, n, type, level);

		if (level < last && estimate_ppb(claims, job, n, type, level + 1) == rate_ppb)
			continue;
		add_level(claims, claim, n_gpus, type, level, rate_ppb);
	}
}

/* Types by what is left of them, the most first (A44): at equal rates that one is better. */
static guint
next_type(const Claims *claims, const Job *job, guint64 tried)
{
	guint found = G_MAXUINT;
	guint32 most = 0;

	for (guint type = 0; type < claims->offer->spec->n_types; type++) {
		guint32 n_left =
		    claims->offer->n_left[offer_range(claims->offer, type, LEVEL_CLUSTER).first];

		if ((tried >> type & 1) || !placement_type_will_do(claims->view, job, type))
			continue;
		if (found != G_MAXUINT && n_left <= most)
			continue;
		found = type;
		most = n_left;
	}
	return found;
}

/* Of choices by falling rate. */
static void
keep_best(GArray *choices)
{
	guint n = 0;

	while (n < choices->len && g_array_index(choices, Choice, n).rate_ppb ==
	                               g_array_index(choices, Choice, 0).rate_ppb)
		n++;
	g_array_set_size(choices, n);
}

static Choices
make_choices(Claims *claims, const Claim *claim, guint n_gpus)
{
	const Job *job = view_job(claims->view, claim->job);
	guint64 tried = 0;
	Choices choices;

	g_array_set_size(claims->scratch, 0);
	for (guint type = next_type(claims, job, tried); type != G_MAXUINT;
	     type = next_type(claims, job, tried)) {
		add_type(claims, claim, n_gpus, type);
		tried |= G_GUINT64_CONSTANT(1) << type;
	}
	if (claims->agents->options->places == PLACES_BEST)
		keep_best(claims->scratch);
	choices.n = claims->scratch->len;
	choices.first = bids_add_choices(claims->bids, (const Choice *)claims->scratch->data,
	                                 claims->scratch->len);
	return choices;
}

static gboolean
is_known(const KnownChoices *known, const KnownChoices *asked)
{
	return known->n_gpus == asked->n_gpus && known->num_gpus == asked->num_gpus &&
	       known->model == asked->model && known->gpu_mem_mib == asked->gpu_mem_mib &&
	       known->share_milli == asked->share_milli && known->gpu_types == asked->gpu_types &&
	       known->agent == asked->agent;
}

/* Where a claim could have @n_gpus, beside those it keeps. */
static Choices
find_choices(Claims *claims, const Claim *claim, guint n_gpus)
{
	const Job *job = view_job(claims->view, claim->job);
	const ThemisOptions *options = claims->agents->options;
	Choices choices;
	KnownChoices asked = {
		.n_gpus = n_gpus,
		.num_gpus = job->num_gpus,
		.model = job->model,
		.gpu_mem_mib = job->gpu_mem_mib,
		.share_milli = job->share_milli,
		.gpu_types = job->gpu_types,
		.agent = options->bid_error > 0 || options->lie > 0 || options->bid_restart
		             ? agents_id(claims->agents, job)
		             : 0,
	};

	if (home_of(claims, claim) != NULL)
		return make_choices(claims, claim, n_gpus);
	for (guint i = 0; i < claims->known->len; i++) {
		const KnownChoices *known = &g_array_index(claims->known, KnownChoices, i);

		if (is_known(known, &asked))
			return (Choices){ known->first, known->n };
	}
	choices = make_choices(claims, claim, n_gpus);
	asked.first = choices.first;
	asked.n = choices.n;
	g_array_append_val(claims->known, asked);
	return choices;
}

static const Choice *
choice_of(const Claims *claims, Choices choices, guint i)
{
	return &g_array_index(claims->bids->choices, Choice, choices.first + i);
}

/* bid tables */

typedef struct Split {
	guint32 n_left;
	guint32 *widths; /* by claim of the range */
} Split;

static void
give_up_to(Split *split, guint i, const Claim *claim, guint32 n_gpus)
{
	guint32 unit = unit_gpus(claim, split->widths[i]);
	guint32 n = MIN(split->n_left, n_gpus);

	if (n < unit)
		return;
	n -= (n - unit) % claim->own->step_gpus;
	if (is_rigid(claim))
		n = unit;
	split->widths[i] += n;
	split->n_left -= n;
}

/* The widths that an app gives its jobs of @n_gpus (A80); FALSE if it cannot use just as many. */
static gboolean
split_gpus(const Claims *claims, ClaimRange range, guint32 n_gpus, guint32 *widths)
{
	Split split = { n_gpus, widths };

	memset(widths, 0, range.n * sizeof(guint32));
	for (guint i = 0; i < range.n && split.n_left > 0; i++) {
		const Claim *claim = claims_get(claims, range.first + i);

		if (claim->was_held)
			give_up_to(&split, i, claim, MIN(claim->n_back, most_gpus(claim)));
		else if (claim->n_kept == 0)
			give_up_to(&split, i, claim, claim->own->min_gpus);
	}
	for (guint j = 0; j < claims->by_work->len && split.n_left > 0; j++) {
		guint i = g_array_index(claims->by_work, guint, j) - range.first;
		const Claim *claim = claims_get(claims, range.first + i);

		if (claim->n_kept + widths[i] > 0)
			give_up_to(&split, i, claim, most_gpus(claim) - widths[i]);
	}
	return split.n_left == 0;
}

static int
compare_work(gconstpointer one, gconstpointer other, gpointer data)
{
	const Claims *claims = data;
	const Claim *a = claims_get(claims, *(const guint *)one);
	const Claim *b = claims_get(claims, *(const guint *)other);

	if (a->work != b->work)
		return a->work > b->work ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* The moldable jobs of an app, those with most work left first. */
static void
sort_by_work(Claims *claims, ClaimRange range)
{
	g_array_set_size(claims->by_work, 0);
	for (guint i = range.first; i < range.first + range.n; i++)
		if (!is_rigid(claims_get(claims, i)))
			g_array_append_val(claims->by_work, i);
	if (claims->by_work->len > 1)
		g_array_sort_with_data(claims->by_work, compare_work, claims);
}

static guint32
demand_gpus(const Claims *claims, ClaimRange range)
{
	guint64 demand = 0;

	for (guint i = range.first; i < range.first + range.n; i++)
		demand += most_gpus(claims_get(claims, i));
	return (guint32)MIN(demand, claims->offer->n_gpus);
}

static gboolean
add_pieces(Claims *claims, ClaimRange range, const guint32 *widths)
{
	for (guint i = 0; i < range.n; i++) {
		Choices choices;
		Piece piece = { .claim = range.first + i, .n_gpus = widths[i] };

		if (widths[i] == 0)
			continue;
		choices = find_choices(claims, claims_get(claims, piece.claim), widths[i]);
		if (choices.n == 0)
			return FALSE;
		piece.first_choice = choices.first;
		piece.n_choices = choices.n;
		bids_add_piece(claims->bids, &piece);
	}
	return TRUE;
}

void
claims_bid(Claims *claims, ClaimRange range, const Bidder *bidder)
{
	guint32 demand = demand_gpus(claims, range);
	g_autofree guint32 *widths = g_new(guint32, range.n);

	bids_add_bidder(claims->bids, bidder);
	sort_by_work(claims, range);
	for (guint32 n = 1; n <= demand; n++) {
		if (!split_gpus(claims, range, n, widths))
			continue;
		if (add_pieces(claims, range, widths))
			bids_end_row(claims->bids, claims->offer);
		else
			bids_drop_row(claims->bids);
	}
}

static gint64
best_rate_ppb(Claims *claims, ClaimRange range, const guint32 *widths)
{
	gint64 rate_ppb = 0;

	for (guint i = 0; i < range.n; i++) {
		Choices choices;

		if (widths[i] == 0)
			continue;
		choices = find_choices(claims, claims_get(claims, range.first + i), widths[i]);
		if (choices.n == 0)
			return 0;
		rate_ppb += choice_of(claims, choices, 0)->rate_ppb;
	}
	return rate_ppb;
}

gint64
claims_least_rate_ppb(Claims *claims, ClaimRange range)
{
	guint32 demand = demand_gpus(claims, range);
	g_autofree guint32 *widths = g_new(guint32, range.n);
	gint64 rate_ppb = 0;

	sort_by_work(claims, range);
	for (guint32 n = 1; n <= demand && rate_ppb == 0; n++)
		if (split_gpus(claims, range, n, widths))
			rate_ppb = best_rate_ppb(claims, range, widths);
	return rate_ppb;
}

/* units */

static void
release_claim(Claims *claims, const Claim *claim)
{
	if (claim->n_gpus > 0)
		offer_give(claims->offer, claim->place, claim->n_gpus);
}

static void
retake_claim(Claims *claims, const Claim *claim)
{
	if (claim->n_gpus > 0)
		offer_take(claims->offer, claim->place, claim->n_gpus);
}

/* A place of @range for @n_gpus: the lowest one, for who takes no notice of places. */
static guint32
pick_place(const Claims *claims, PlaceRange range, guint32 n_gpus)
{
	guint32 place = range.first;

	if (!claims->is_blind)
		return offer_best_fit(claims->offer, range, n_gpus);
	while (place < range.end && !offer_has(claims->offer, place, n_gpus))
		place++;
	return place < range.end ? place : PLACE_NONE;
}

static gboolean
find_place(Claims *claims, Choices choices, guint32 n_gpus, Unit *unit)
{
	for (guint i = 0; i < choices.n; i++) {
		const Choice *choice = choice_of(claims, choices, i);

		unit->place = pick_place(claims, choice->range, n_gpus);
		unit->rate_ppb = choice->rate_ppb;
		if (unit->place != PLACE_NONE)
			return TRUE;
	}
	return FALSE;
}

/* One unit more for a claim; no use if it goes no faster with it. */
static gboolean
find_unit_for(Claims *claims, guint number, Unit *unit)
{
	const Claim *claim = claims_get(claims, number);
	guint32 n_gpus = claim->n_gpus + unit_gpus(claim, claim->n_gpus);
	gboolean is_found;

	if (n_gpus > most_gpus(claim) || n_gpus - claim->n_gpus > claims->offer->n_gpus)
		return FALSE;
	unit->claim = number;
	unit->n_gpus = n_gpus;
	release_claim(claims, claim);
	is_found = find_place(claims, find_choices(claims, claim, n_gpus), n_gpus, unit) &&
	           unit->rate_ppb > claim->rate_ppb;
	retake_claim(claims, claim);
	return is_found;
}

gboolean
claims_find_unit(Claims *claims, ClaimRange range, Unit *ret_unit)
{
	Unit unit;

	for (guint i = range.first; i < range.first + range.n; i++) {
		const Claim *claim = claims_get(claims, i);
		gboolean is_next = claim->was_held ? claim->n_gpus < claim->n_back
		                                   : claim->n_kept + claim->n_gpus == 0;

		if (is_next && find_unit_for(claims, i, &unit)) {
			*ret_unit = unit;
			return TRUE;
		}
	}
	sort_by_work(claims, range);
	for (guint j = 0; j < claims->by_work->len; j++) {
		guint i = g_array_index(claims->by_work, guint, j);

		if (claims_get(claims, i)->n_kept + claims_get(claims, i)->n_gpus > 0 &&
		    find_unit_for(claims, i, &unit)) {
			*ret_unit = unit;
			return TRUE;
		}
	}
	return FALSE;
}

void
claims_take_unit(Claims *claims, const Unit *unit)
{
	Claim *claim = claims_get(claims, unit->claim);

	release_claim(claims, claim);
	claim->n_gpus = unit->n_gpus;
	claim->place = unit->place;
	claim->rate_ppb = unit->rate_ppb;
	retake_claim(claims, claim);
}

void
claims_give_back(Claims *claims, guint number, guint32 n_gpus)
{
	Claim *claim = claims_get(claims, number);
	Choices choices;

	release_claim(claims, claim);
	claim->n_gpus = n_gpus;
	claim->rate_ppb = 0;
	retake_claim(claims, claim);
	if (n_gpus == 0)
		return;
	choices = find_choices(claims, claim, n_gpus);
	for (guint i = choices.n; i-- > 0;) {
		const Choice *choice = choice_of(claims, choices, i);

		if (claim->place >= choice->range.first && claim->place < choice->range.end)
			claim->rate_ppb = choice->rate_ppb;
	}
}
