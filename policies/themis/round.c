/* SPDX-License-Identifier: MIT */

#include "policies/themis/rates.h"
#include "policies/themis/round.h"

/* 1 / rho of holding nothing under rho0=cap. */
#define VALUE_AT_CAP 1e-6

/* Between x and the next whole number that it means (A73, E4). */
#define NEARLY_WHOLE 1e-9

Round *
round_new(const View *view, const ThemisOptions *options, Agents *agents, Offer *offer)
{
	Round *round = g_new0(Round, 1);

	round->options = options;
	round->agents = agents;
	round->offer = offer;
	round->bids = bids_new();
	round->bids->prefers_few = options->tied_deals == TIED_DEALS_FEWEST;
	round->claims = claims_new(agents, offer, round->bids);
	round->auction = auction_new();
	round->contenders = g_array_new(FALSE, FALSE, sizeof(Contender));
	round->lottery = view_stream(view, "lottery");
	round->leftover = view_stream(view, "leftover");
	round->ties = view_stream(view, "ties");
	return round;
}

void
round_free(Round *round)
{
	if (round == NULL)
		return;
	claims_free(round->claims);
	bids_free(round->bids);
	auction_free(round->auction);
	g_array_unref(round->contenders);
	g_free(round);
}

guint
round_n_bidders(double fairness_knob, guint n, gboolean is_down)
{
	double part = (1 - fairness_knob) * n;

	part = is_down ? floor(part + NEARLY_WHOLE) : ceil(part - NEARLY_WHOLE);
	return (guint)CLAMP(part, 1, MAX(n, 1));
}

static Contender *
contender(const Round *round, guint i)
{
	return &g_array_index(round->contenders, Contender, i);
}

/* who takes part */

/* GPUs of the smallest thing that an app could have now. */
static guint32
least_grant(const Round *round, const Contender *who)
{
	guint32 least = agent_least_grant(round->agents, round->view, who->agent);

	for (guint i = 0; who->agent->has_returned && i < who->agent->running->len; i++) {
		JobId job = g_array_index(who->agent->running, JobId, i);
		const AgentJob *own = agents_job(round->agents, job);
		guint n_back = 0;

		for (guint j = 0; j < own->gpus.n; j++)
			n_back += round->offer->former[own->gpus.gpus[j]] == job;
		if (n_back > 0)
			least = MIN(least, n_back == own->gpus.n ? own->min_gpus : own->step_gpus);
	}
	return least;
}

/* Whether @n_gpus of one type are on offer close enough together. */
static gboolean
type_has(const Round *round, guint type, guint n_gpus)
{
	PlacementLevel level = (PlacementLevel)round->options->max_level;

	if (n_gpus == 1)
		level = LEVEL_CLUSTER;
	else if (level == LEVEL_SLOT && !round->offer->has_slots)
		level = LEVEL_MACHINE;
	return offer_most_left(round->offer, type, level) >= n_gpus;
}

static gboolean
job_fits(const Round *round, const Job *job, guint n_gpus)
{
	for (guint type = 0; type < round->offer->spec->n_types; type++)
		if (type_has(round, type, n_gpus) && placement_type_will_do(round->view, job, type))
			return TRUE;
	return FALSE;
}

static gboolean
some_job_fits(const Round *round, const Agent *agent)
{
	for (guint i = 0; i < agent->queued->len; i++) {
		JobId job = g_array_index(agent->queued, JobId, i);

		if (job_fits(round, view_job(round->view, job),
		             agents_job(round->agents, job)->min_gpus))
			return TRUE;
	}
	for (guint i = 0; i < agent->running->len; i++) {
		JobId job = g_array_index(agent->running, JobId, i);

		if (agents_job_can_grow(round->agents, job) &&
		    job_fits(round, view_job(round->view, job),
		             agents_job(round->agents, job)->step_gpus))
			return TRUE;
	}
	return FALSE;
}

/* Whether what an app wants beside what it has just returned can be had (A70). */
static gboolean
wants_some(const Round *round, Agent *agent)
{
	guint32 least = agent_least_grant(round->agents, round->view, agent);

	if (least > round->offer->n_gpus)
		return FALSE;
	return round->offer->spec->n_types == 1 && !agent->is_picky ? type_has(round, 0, least)
	                                                            : some_job_fits(round, agent);
}

gboolean
round_is_contested(Round *round, const View *view, guint n_gpus)
{
	const GArray *wanting = round->agents->wanting;

	for (guint i = 0; n_gpus > 0 && i < wanting->len; i++) {
		Agent *agent = &round->agents->agents[g_array_index(wanting, AgentId, i)];

		if (agent_least_grant(round->agents, view, agent) <= n_gpus)
			return TRUE;
	}
	return FALSE;
}

void
round_skip(Round *round)
{
	round->counts.n_rounds++;
}

/* rank_idle=last-rho: what rho was when it last held something, and more by the minute. */
static double
rho_of_idle(const Round *round, const Agent *agent)
{
	SimTime idle_ns = view_now_ns(round->view) - agent->last_rho_ns;

	return agent->last_rho * ((double)idle_ns / (60.0 * NS_PER_S) + 1);
}

static void
rank(const Round *round, Contender *who)
{
	Agent *agent = who->agent;
	gint64 rate_ppb = agent_rate_until_now_ppb(round->agents, round->view, agent);
	gboolean has_rho =
	    round->options->rank_idle == RANK_OF_IDLE_LAST_RHO && agent->last_rho_ns != TIME_NEVER;
	double rho = who->elapsed_ns / who->ideal_ns;

	if (who->ideal_ns <= 0)
		return;
	who->standing = rate_ppb > 0 || has_rho ? 2 : 1;
	if (rate_ppb > 0) {
		rho = (who->elapsed_ns + forecast_time_ns(&agent->forecast, (double)rate_ppb)) /
		      who->ideal_ns;
		agent->last_rho = rho;
		agent->last_rho_ns = view_now_ns(round->view);
	} else if (has_rho) {
		rho = rho_of_idle(round, agent);
	} else if (round->options->rank_idle == RANK_OF_IDLE_LAST_RHO) {
		rho = 0; /* all alike: without end */
	}
	who->rank = score_rank_of(rho);
}

/* The rounds of an instant (leftover=auction) go by how things stood before the first. */
static void
rank_once(const Round *round, Contender *who)
{
	Agent *agent = who->agent;

	if (round->options->leftover != LEFTOVER_AUCTION ||
	    agent->ranked_ns != view_now_ns(round->view)) {
		rank(round, who);
		agent->ranked_ns = view_now_ns(round->view);
		agent->standing = who->standing;
		agent->rank = who->rank;
	}
	who->standing = agent->standing;
	who->rank = agent->rank;
	if (round->options->ties == TIES_RANDOM)
		who->tie = rng_unit(round->ties, agent->id, round->counts.n_rounds);
}

static void
add_contender(Round *round, Agent *agent)
{
	Contender who = { .agent = agent };

	who.elapsed_ns = agent_elapsed_ns(round->view, agent);
	who.ideal_ns = agent_ideal_ns(round->agents, round->view, agent);
	agent_foresee(round->agents, round->view, agent);
	rank_once(round, &who);
	g_array_append_val(round->contenders, who);
}

static int
compare_contenders(gconstpointer one, gconstpointer other)
{
	const Contender *a = one, *b = other;

	if (a->standing != b->standing)
		return a->standing < b->standing ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->tie != b->tie)
		return a->tie < b->tie ? -1 : 1;
	return (a->agent->id > b->agent->id) - (a->agent->id < b->agent->id);
}

guint
round_open(Round *round, const View *view)
{
	const GArray *wanting = round->agents->wanting, *returning = round->agents->returning;

	round->view = view;
	g_array_set_size(round->contenders, 0);
	for (guint i = 0; i < returning->len; i++)
		add_contender(round, &round->agents->agents[g_array_index(returning, AgentId, i)]);
	for (guint i = 0; i < wanting->len; i++) {
		Agent *agent = &round->agents->agents[g_array_index(wanting, AgentId, i)];

		if (!agent->has_returned && agent->passed_ns != view_now_ns(view) &&
		    wants_some(round, agent))
			add_contender(round, agent);
	}
	g_array_sort(round->contenders, compare_contenders);
	round->n_draws = 0;
	round->counts.n_rounds++;
	claims_open(round->claims, view);
	return round->contenders->len;
}

static void
make_claims(Round *round, Contender *who)
{
	who->claims = claims_add(round->claims, who->agent, &who->kept_ppb);
}

/* the auction */

/* What it is worth to win nothing (A69, B24). An app that holds nothing loses a lease and then
 * runs at its fair share; but a bundle below the fair share, if held to the end, can be worth less
 * than that, and an app could lose for ever (B26). So its smallest bundle always is worth more: as
 * much as the same after a lost lease. */
static double
value_of_nothing(const Round *round, const Contender *who, const Bidder *bidder)
{
	double n_gpus = round->offer->spec->n_gpus;
	double share = n_gpus / agents_n_present(round->agents, round->view);
	double demand = agent_demand_gpus(round->agents, round->view, who->agent);
	double share_ppb = MIN(share, demand) * 1e9;
	const Forecast *forecast = &who->agent->forecast;
	double lost_ns = who->elapsed_ns + (double)round->options->lease_ns;
	gint64 least_ppb;

	if (who->ideal_ns <= 0)
		return 1;
	if (bidder->bids_speed)
		return SPEED_VALUE_OF_NOTHING;
	if (who->kept_ppb > 0)
		return bidder_value(bidder, who->kept_ppb);
	if (round->options->rho0 == RHO_OF_NOTHING_CAP)
		return VALUE_AT_CAP;
	least_ppb = claims_least_rate_ppb(round->claims, who->claims);
	if (least_ppb > 0 && who->elapsed_ns + forecast_time_ns(forecast, (double)least_ppb) >=
	                         lost_ns + forecast_time_ns(forecast, share_ppb))
		share_ppb = (double)least_ppb;
	return who->ideal_ns / (lost_ns + forecast_time_ns(forecast, share_ppb));
}

static void
bid(Round *round, Contender *who)
{
	Bidder bidder = {
		.agent = who->agent->id,
		.bids_speed = round->options->value == VALUATION_SPEED,
		.held_ppb = who->kept_ppb,
		.elapsed_ns = who->elapsed_ns,
		.forecast = who->agent->forecast,
		.ideal_ns = who->ideal_ns,
	};

	bidder.value_of_nothing = value_of_nothing(round, who, &bidder);
	claims_bid(round->claims, who->claims, &bidder);
}

/* The bidders' tables, the earliest app's first (A72); */
static int
compare_agents(gconstpointer one, gconstpointer other)
{
	const Contender *a = *(Contender *const *)one, *b = *(Contender *const *)other;

	return (a->agent->id > b->agent->id) - (a->agent->id < b->agent->id);
}

/* or, as in the authors' program, that of the worst off, and as drawn. */
static int
compare_listed(gconstpointer one, gconstpointer other)
{
	return compare_contenders(*(Contender *const *)one, *(Contender *const *)other);
}

/* Contenders from @first to @end in the order in which ties are broken. */
static GPtrArray * /* of Contender */
by_agent(const Round *round, guint first, guint end)
{
	GPtrArray *list = g_ptr_array_new();

	for (guint i = first; i < end; i++)
		g_ptr_array_add(list, contender(round, i));
	g_ptr_array_sort(list,
	                 round->options->ties == TIES_RANDOM ? compare_listed : compare_agents);
	return list;
}

/* payments */

static guint
units_of(const Claim *claim)
{
	return claim->own->min_gpus == claim->own->max_gpus ? 1
	                                                    : claim->n_gpus / claim->own->step_gpus;
}

/* What of @n_units a bidder keeps (A73). */
static guint
kept_units(const Round *round, AgentId agent, double kept, guint n_units)
{
	double x = kept * n_units, whole = floor(x + NEARLY_WHOLE);

	switch ((Rounding)round->options->round) {
	case ROUNDING_LOTTERY:
		if (x > whole &&
		    rng_unit(round->lottery, agent, round->counts.n_rounds) < x - whole)
			whole++;
		return (guint)whole;
	case ROUNDING_FLOOR:
		return (guint)whole;
	case ROUNDING_NEAREST:
		return (guint)floor(x + 0.5);
	case ROUNDING_NONE:
		return n_units;
	}
	g_assert_not_reached();
}

typedef struct Won {
	guint claim;
	guint order;
	gint64 loss_ppb; /* by its place, against the best */
} Won;

/* The best packed first. */
static int
compare_won(gconstpointer one, gconstpointer other)
{
	const Won *a = one, *b = other;

	if (a->loss_ppb != b->loss_ppb)
		return a->loss_ppb < b->loss_ppb ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Writes an award into the claims. */
static GArray * /* of Won */
take_award(Round *round, guint number)
{
	const Award *award = auction_award(round->auction, number);
	const Row *row = bids_row(round->bids, bids_bidder(round->bids, number), award->row);
	GArray *list = g_array_new(FALSE, FALSE, sizeof(Won));

	for (guint p = 0; p < row->n_pieces; p++) {
		const Piece *piece = bids_piece(round->bids, row, p);
		guint32 place =
		    g_array_index(round->auction->places, guint32, award->first_place + p);
		Unit unit = { .claim = piece->claim, .n_gpus = piece->n_gpus, .place = place };
		Won won = { .claim = piece->claim, .order = p };

		unit.rate_ppb = piece_rate_ppb(round->bids, piece, place);
		won.loss_ppb = bids_choice(round->bids, piece, 0)->rate_ppb - unit.rate_ppb;
		claims_take_unit(round->claims, &unit);
		g_array_append_val(list, won);
	}
	return list;
}

/* Gives back so many units of a claim, and what is then too little to run on; how many units. */
static guint
pay_with(Round *round, guint number, guint n_units)
{
	const Claim *claim = claims_get(round->claims, number);
	guint n_had = units_of(claim), n = MIN(n_units, n_had);
	guint32 n_gpus = claim->n_gpus - n * claim->own->step_gpus;

	if (n == n_had || claim->n_kept + n_gpus < claim->own->min_gpus)
		n_gpus = 0;
	claims_give_back(round->claims, number, n_gpus);
	return n;
}

static void
charge(Round *round, guint number)
{
	g_autoptr(GArray) won = take_award(round, number);
	double kept = auction_award(round->auction, number)->kept;
	AgentId agent = bids_bidder(round->bids, number)->agent;
	guint n_units = 0, n_due;

	for (guint i = 0; i < won->len; i++)
		n_units += units_of(claims_get(round->claims, g_array_index(won, Won, i).claim));
	n_due = n_units - kept_units(round, agent, kept, n_units);
	if (n_due == 0)
		return;
	g_array_sort(won, compare_won);
	for (guint i = won->len; i-- > 0 && n_due > 0;)
		n_due -= pay_with(round, g_array_index(won, Won, i).claim, n_due);
}

static void
hold_auction(Round *round)
{
	const AuctionRules rules = {
		.is_greedy = round->options->bundle == BUNDLES_GREEDY,
		.node_cap = (guint64)round->options->node_cap,
	};
	g_autoptr(GPtrArray) bidders = by_agent(round, 0, round->n_bidders);

	for (guint i = 0; i < bidders->len; i++)
		make_claims(round, bidders->pdata[i]);
	for (guint i = 0; i < bidders->len; i++)
		bid(round, bidders->pdata[i]);
	auction_run(round->auction, round->bids, round->offer, &rules);
	for (guint i = 0; i < bidders->len; i++)
		charge(round, i);
	round->counts.n_auctions++;
	round->counts.n_truncated += round->auction->is_truncated;
	round->counts.n_nodes += round->auction->n_nodes;
}

/* leftovers */

static guint
n_left(const Round *round)
{
	guint n = 0;

	for (guint type = 0; type < round->offer->spec->n_types; type++)
		n += round->offer->n_left[offer_range(round->offer, type, LEVEL_CLUSTER).first];
	return n;
}

/* Takes those off the list that can use nothing more: what is left only shrinks. */
static void
drop_sated(Round *round, GPtrArray *list)
{
	Unit unit;
	guint n = 0;

	for (guint i = 0; i < list->len; i++) {
		Contender *who = list->pdata[i];

		if (claims_find_unit(round->claims, who->claims, &unit))
			list->pdata[n++] = who;
	}
	g_ptr_array_set_size(list, (gint)n);
}

static gboolean
take_one(Round *round, const Contender *who)
{
	Unit unit;

	if (!claims_find_unit(round->claims, who->claims, &unit))
		return FALSE;
	claims_take_unit(round->claims, &unit);
	return TRUE;
}

/* A74 (1): one of those that did not bid, drawn, takes a unit, as long as one can. */
static void
draw_leftovers(Round *round)
{
	g_autoptr(GPtrArray) list = by_agent(round, round->n_bidders, round->contenders->len);

	while (n_left(round) > 0) {
		guint64 drawn;

		drop_sated(round, list);
		if (list->len == 0)
			return;
		drawn =
		    rng_below(round->leftover, round->counts.n_rounds, round->n_draws++, list->len);
		take_one(round, list->pdata[drawn]);
	}
}

/* A74 (2): the contenders from @first to @end, the worst off first, take a unit each in turn. */
static void
deal_leftovers(Round *round, guint first, guint end)
{
	gboolean is_any = TRUE;

	while (is_any && n_left(round) > 0) {
		is_any = FALSE;
		for (guint i = first; i < end && n_left(round) > 0; i++)
			is_any |= take_one(round, contender(round, i));
	}
}

static gboolean
is_anything_held(const Round *round)
{
	for (guint i = 0; i < round->claims->claims->len; i++)
		if (claims_get(round->claims, i)->n_gpus > 0)
			return TRUE;
	return FALSE;
}

/* leftover=auction: if no bid is worth more than none, the worst off of the bidders takes a unit,
 * so that somebody has what is left. */
static void
take_at_least_one(Round *round)
{
	if (is_anything_held(round))
		return;
	for (guint i = 0; i < round->n_bidders; i++)
		if (take_one(round, contender(round, i)))
			return;
}

void
round_pass(Round *round)
{
	for (guint i = 0; i < round->n_bidders; i++)
		contender(round, i)->agent->passed_ns = view_now_ns(round->view);
}

static void
give_leftovers(Round *round)
{
	if (n_left(round) == 0)
		return;
	if (round->options->leftover == LEFTOVER_AUCTION) {
		take_at_least_one(round);
		return;
	}
	for (guint i = round->n_bidders; i < round->contenders->len; i++)
		make_claims(round, contender(round, i));
	switch ((Leftover)round->options->leftover) {
	case LEFTOVER_RANDOM:
		draw_leftovers(round);
		break;
	case LEFTOVER_WORST_RHO:
		deal_leftovers(round, round->n_bidders, round->contenders->len);
		break;
	case LEFTOVER_IDLE:
		/* But where all is left over nothing would ever happen again. */
		if (is_anything_held(round) || n_left(round) < round->offer->spec->n_gpus)
			return;
		break;
	case LEFTOVER_AUCTION:
		break;
	}
	deal_leftovers(round, 0, round->n_bidders);
}

/* Of those that would bid, the worst off whose smallest grants the offer has room for together. */
static guint
n_servable(Round *round, guint n_bidders)
{
	guint32 n_gpus = round->offer->n_gpus, n = 0;

	while (n < n_bidders) {
		guint32 least = least_grant(round, contender(round, n));

		if (least > n_gpus)
			break;
		n_gpus -= least;
		n++;
	}
	return MAX(n, 1);
}

void
round_hold(Round *round)
{
	round->n_bidders = round_n_bidders(round->options->fairness_knob, round->contenders->len,
	                                   round->options->bidders == BIDDERS_PART_DOWN);
	if (round->options->bidders == BIDDERS_SERVABLE)
		round->n_bidders = n_servable(round, round->n_bidders);
	hold_auction(round);
	give_leftovers(round);
}

void
round_hold_greedily(Round *round)
{
	round->n_bidders = round->contenders->len;
	for (guint i = 0; i < round->contenders->len; i++)
		make_claims(round, contender(round, i));
	for (guint i = 0; i < round->contenders->len; i++)
		while (n_left(round) > 0 && take_one(round, contender(round, i)))
			;
}
