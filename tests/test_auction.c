/* SPDX-License-Identifier: MIT */

/*
 * The partial-allocation auction on small tables, worked out by hand: the worked examples E2 and
 * E3 of the specification, the motivating instances of the paper, ties, and the search's limits.
 */

#include <check.h>
#include <math.h>

#include "policies/themis/auction.h"
#include "policies/themis/deal.h"
#include "policies/themis/round.h"

#define GPU NS_PER_S /* the rate of one GPU at full speed, in ppb */

static const AuctionRules exact = { .node_cap = 1000000 };

/* A cluster of which so many GPUs of each machine are on offer, and the bids for them. */
typedef struct Market {
	ClusterSpec *spec;
	Cluster *cluster;
	ModelTable *models;
	Offer *offer;
	Bids *bids;
	Auction *auction;
} Market;

static Market
market_open(const char *shorthand, const guint *n_offered)
{
	const Job busy = { .share_milli = GPU_MILLI, .gpu_types = GPU_TYPE_ANY };
	Market market = { .spec = cluster_spec_parse_shorthand(shorthand, NULL) };
	Alloc held = { 0 };

	market.cluster = cluster_new(market.spec);
	market.models = model_table_new_empty();
	for (guint i = 0; i < market.spec->n_machines; i++)
		for (guint j = n_offered[i]; j < market.spec->machines[i].n_gpus; j++)
			alloc_add(&held, market.spec->machines[i].first_gpu + j);
	cluster_take(market.cluster, &busy, &held);
	alloc_clear(&held);
	market.offer = offer_new(market.spec, market.models, LEVEL_CLUSTER);
	offer_fill(market.offer, market.cluster);
	market.bids = bids_new();
	market.auction = auction_new();
	return market;
}

static void
market_close(Market *market)
{
	auction_free(market->auction);
	bids_free(market->bids);
	offer_free(market->offer);
	model_table_free(market->models);
	cluster_free(market->cluster);
	cluster_spec_free(market->spec);
}

static PlaceRange
everywhere(const Market *market)
{
	return offer_range(market->offer, 0, LEVEL_CLUSTER);
}

static PlaceRange
any_machine(const Market *market)
{
	return offer_range(market->offer, 0, LEVEL_MACHINE);
}

static PlaceRange
machine(const Market *market, guint number)
{
	guint32 place = market->offer->machine_place[number];

	return (PlaceRange){ place, place + 1 };
}

/* A row of one piece that has two choices; the second is left out if its rate is 0. */
static gboolean
add_row(Market *market, guint n_gpus, Choice first, Choice second)
{
	const Choice choices[] = { first, second };
	Piece piece = { .n_gpus = n_gpus, .n_choices = second.rate_ppb > 0 ? 2 : 1 };

	piece.first_choice = bids_add_choices(market->bids, choices, piece.n_choices);
	bids_add_piece(market->bids, &piece);
	return bids_end_row(market->bids, market->offer);
}

/* A bidder that holds nothing and is worth k x @each with k GPUs, wherever they are. */
static void
add_linear(Market *market, AppId app, guint most, double each)
{
	const Bidder bidder = { .agent = app,
		                .forecast = forecast_of_work(1e12),
		                .ideal_ns = each * 1e12,
		                .value_of_nothing = 1e-6 };

	bids_add_bidder(market->bids, &bidder);
	for (guint k = 1; k <= most; k++)
		ck_assert(
		    add_row(market, k, (Choice){ k * GPU, everywhere(market) }, (Choice){ 0 }));
}

static guint
n_won(const Market *market, guint bidder)
{
	return bids_row(market->bids, bids_bidder(market->bids, bidder),
	                auction_award(market->auction, bidder)->row)
	    ->n_gpus;
}

static guint32
place_won(const Market *market, guint bidder)
{
	return g_array_index(market->auction->places, guint32,
	                     auction_award(market->auction, bidder)->first_place);
}

static double
kept(const Market *market, guint bidder)
{
	return auction_award(market->auction, bidder)->kept;
}

static void
run(Market *market, const AuctionRules *rules)
{
	guint n_before = market->offer->n_left[0];

	auction_run(market->auction, market->bids, market->offer, rules);
	ck_assert_uint_eq(market->offer->n_left[0], n_before);
}

/* E1: an app that halves its jobs: 4 x 8 iterations of 100 s a job on average, 2 x 16, 1 x 36, with
 * up to 8 GPUs a job. */
START_TEST(test_e1)
{
	const Bidder halver = {
		.forecast = { .n_phases = 3,
		              .phases = { { 3200e9, 32 }, { 3200e9, 16 }, { 3600e9, 8 } } },
		.ideal_ns = 10000e9 / 16 * 4,
	};
	const struct {
		guint n_gpus;
		double rho;
	} bids[] = { { 1, 4 }, { 2, 2 }, { 4, 1 }, { 8, 0.5 }, { 16, 0.34 } };

	for (guint i = 0; i < G_N_ELEMENTS(bids); i++)
		ck_assert_double_eq_tol(1 / bidder_value(&halver, bids[i].n_gpus * GPU),
		                        bids[i].rho, 1e-12);
}
END_TEST

/* E2 */

/* A holds 2 on machine 0, works at 1/1.3 across machines, and can use 4. */
static void
add_e2_a(Market *market)
{
	const gint64 apart_ppb[] = { 0, 3 * GPU * 10 / 13 - 2 * GPU, 4 * GPU * 10 / 13 - 2 * GPU };
	Bidder a = { .agent = 0,
		     .held_ppb = 2 * GPU,
		     .elapsed_ns = 100e9,
		     .forecast = forecast_of_work(1600e9),
		     .ideal_ns = 500e9 };

	a.value_of_nothing = bidder_value(&a, a.held_ppb);
	bids_add_bidder(market->bids, &a);
	for (guint k = 1; k <= 2; k++)
		add_row(market, k, (Choice){ k * GPU, machine(market, 0) },
		        (Choice){ apart_ppb[k], everywhere(market) });
}

/* B holds 2 on machine 1, works anywhere, and can use 6. */
static void
add_e2_b(Market *market)
{
	Bidder b = { .agent = 1,
		     .held_ppb = 2 * GPU,
		     .elapsed_ns = 200e9,
		     .forecast = forecast_of_work(1200e9),
		     .ideal_ns = 400e9 };

	b.value_of_nothing = bidder_value(&b, b.held_ppb);
	bids_add_bidder(market->bids, &b);
	for (guint k = 1; k <= 4; k++)
		add_row(market, k, (Choice){ k * GPU, everywhere(market) }, (Choice){ 0 });
}

START_TEST(test_e2_tables)
{
	const guint offered[] = { 2, 2 };
	const double rho_a[] = { 1.8, 3.8 / 3, 1.0 }, rho_b[] = { 2.0, 1.5, 1.25, 1.1, 1.0 };
	Market market = market_open("2x4", offered);
	const Bidder *a, *b;
	Score value;

	add_e2_a(&market);
	add_e2_b(&market);
	a = bids_bidder(market.bids, 0);
	b = bids_bidder(market.bids, 1);
	ck_assert_uint_eq(a->n_rows, 3);
	ck_assert_uint_eq(b->n_rows, 5);
	for (guint k = 0; k < 3; k++)
		ck_assert_double_eq_tol(1 / bids_row(market.bids, a, k)->value, rho_a[k], 1e-8);
	for (guint k = 0; k < 5; k++)
		ck_assert_double_eq_tol(1 / bids_row(market.bids, b, k)->value, rho_b[k], 1e-8);
	/* One GPU on machine 1 makes 1.5867; two of which one is there 1.24, still worth more than
	 * one at its best. */
	ck_assert(row_value(market.bids, a, 1, 3 * GPU * 10 / 13, &value));
	ck_assert_double_eq_tol(1 / ldexp(value.mantissa, value.exponent), 4.76 / 3, 1e-8);
	ck_assert(row_value(market.bids, a, 2, 4 * GPU * 10 / 13, &value));
	ck_assert_double_eq_tol(1 / ldexp(value.mantissa, value.exponent), 1.24, 1e-8);
	market_close(&market);
}
END_TEST

START_TEST(test_e2_auction)
{
	const guint offered[] = { 2, 2 };
	Market market = market_open("2x4", offered);

	add_e2_a(&market);
	add_e2_b(&market);
	run(&market, &exact);
	ck_assert_uint_eq(n_won(&market, 0), 2);
	ck_assert_uint_eq(n_won(&market, 1), 2);
	ck_assert_uint_eq(place_won(&market, 0), market.offer->machine_place[0]);
	ck_assert_double_eq_tol(kept(&market, 0), 0.8, 1e-9);
	ck_assert_double_eq(kept(&market, 1), 1);
	ck_assert(!market.auction->is_truncated);
	market_close(&market);
}
END_TEST

/* c of bidders alike */

static const struct {
	guint n_bidders, n_gpus;
	double kept;
} alike[] = {
	{ 1, 4, 1 },    { 2, 4, 0.5 }, /* E3 */
	{ 2, 12, 0.5 }, { 3, 6, 4.0 / 9 }, { 4, 12, 27.0 / 64 },
};

START_TEST(test_alike)
{
	g_autofree char *shorthand = g_strdup_printf("1x%u", alike[_i].n_gpus);
	const guint offered[] = { alike[_i].n_gpus };
	Market market = market_open(shorthand, offered);

	for (guint i = 0; i < alike[_i].n_bidders; i++)
		add_linear(&market, i, alike[_i].n_gpus, 0.5);
	run(&market, &exact);
	for (guint i = 0; i < alike[_i].n_bidders; i++) {
		ck_assert_uint_eq(n_won(&market, i), alike[_i].n_gpus / alike[_i].n_bidders);
		ck_assert_double_eq_tol(kept(&market, i), alike[_i].kept, 1e-12);
	}
	ck_assert_uint_eq(market.auction->n_nodes, 0);
	market_close(&market);
}
END_TEST

/* The same mechanism where GPUs can be cut at will, which is Gavel's strategy-proof policy on one
 * type: of shares that add up to @n_gpus those of the largest product are even, up to what each
 * bidder can use; slopes of valuations cancel out. Without @without, or G_MAXUINT. */
static void
share_divisible(guint n, const guint *most, double n_gpus, guint without, double *ret_shares)
{
	double left = n_gpus;
	guint n_open = n - (without < n);

	for (guint i = 0; i < n; i++)
		ret_shares[i] = 0;
	while (n_open > 0 && left > 1e-12) {
		double level = left / n_open;

		n_open = 0;
		left = 0;
		for (guint i = 0; i < n; i++) {
			double room = i == without ? 0 : most[i] - ret_shares[i];

			ret_shares[i] += MIN(level, room);
			left += i != without && room > 0 ? MAX(0, level - room) : 0;
			n_open += room > level;
		}
	}
}

static double
kept_divisible(guint n, const guint *most, double n_gpus, guint bidder)
{
	double with[8], without[8], kept = 1;

	share_divisible(n, most, n_gpus, G_MAXUINT, with);
	share_divisible(n, most, n_gpus, bidder, without);
	for (guint i = 0; i < n; i++)
		kept *= i == bidder ? 1 : with[i] / without[i];
	return kept;
}

/* Wherever the even shares come out whole. */
static const struct {
	guint n_bidders, n_gpus;
	guint most[8];
	double each[8];
} divisible[] = {
	{ 2, 12, { 12, 12 }, { 0.5, 0.5 } },
	{ 3, 6, { 6, 6, 6 }, { 0.25, 0.5, 3 } },
	{ 4, 12, { 12, 12, 12, 12 }, { 1, 2, 3, 4 } },
	{ 5, 20, { 20, 20, 20, 20, 20 }, { 1, 1, 1, 1, 1 } },
	{ 6, 30, { 30, 30, 30, 30, 30, 30 }, { 1, 7, 1, 1, 1, 2 } },
	/* 2, 4, 4; without the first 5, 5; without another 2, 6 */
	{ 3, 10, { 2, 6, 6 }, { 0.5, 0.5, 0.5 } },
	/* nobody is in anybody's way */
	{ 3, 14, { 2, 6, 6 }, { 0.5, 2, 0.5 } },
	/* 1, 3, 3, 5; without the last 1, 3, 3 */
	{ 4, 12, { 1, 3, 3, 9 }, { 1, 2, 1, 1 } },
};

START_TEST(test_divisible)
{
	g_autofree char *shorthand = g_strdup_printf("1x%u", divisible[_i].n_gpus);
	const guint n = divisible[_i].n_bidders, offered[] = { divisible[_i].n_gpus };
	const guint *most = divisible[_i].most;
	Market market = market_open(shorthand, offered);
	double shares[8];

	for (guint i = 0; i < n; i++)
		add_linear(&market, i, most[i], divisible[_i].each[i]);
	run(&market, &exact);
	share_divisible(n, most, offered[0], G_MAXUINT, shares);
	for (guint i = 0; i < n; i++) {
		ck_assert_double_eq_tol(n_won(&market, i), shares[i], 1e-9);
		ck_assert_double_eq_tol(kept(&market, i), kept_divisible(n, most, offered[0], i),
		                        1e-9);
		if (_i < 5)
			ck_assert_double_eq_tol(kept(&market, i), pow((n - 1.0) / n, n - 1.0),
			                        1e-9);
	}
	market_close(&market);
}
END_TEST

/* Of (2, 1) and (1, 2) the first bidder's is taken; without the first, the second has 3. */
START_TEST(test_tie)
{
	const guint offered[] = { 3 };
	Market market = market_open("1x3", offered);

	add_linear(&market, 0, 3, 0.25);
	add_linear(&market, 1, 3, 4);
	run(&market, &exact);
	ck_assert_uint_eq(n_won(&market, 0), 2);
	ck_assert_uint_eq(n_won(&market, 1), 1);
	ck_assert_double_eq_tol(kept(&market, 0), 1.0 / 3, 1e-12);
	ck_assert_double_eq_tol(kept(&market, 1), 2.0 / 3, 1e-12);
	market_close(&market);
}
END_TEST

/* Nobody's bundle is another's: nobody pays. */
START_TEST(test_no_contest)
{
	const guint offered[] = { 8 };
	Market market = market_open("1x8", offered);

	add_linear(&market, 0, 3, 1);
	add_linear(&market, 1, 2, 1);
	add_linear(&market, 2, 3, 1);
	run(&market, &exact);
	for (guint i = 0; i < 3; i++)
		ck_assert_double_eq(kept(&market, i), 1);
	ck_assert_uint_eq(n_won(&market, 0) + n_won(&market, 1) + n_won(&market, 2), 8);
	market_close(&market);
}
END_TEST

START_TEST(test_nothing_offered)
{
	const guint offered[] = { 0 };
	Market market = market_open("1x4", offered);

	add_linear(&market, 0, 0, 1);
	run(&market, &exact);
	ck_assert_uint_eq(n_won(&market, 0), 0);
	ck_assert_double_eq(kept(&market, 0), 1);
	run(&market, &(AuctionRules){ 0 });
	market_close(&market);
}
END_TEST

/* the paper's motivating instances */

/* A gang of 4 that works at full speed in one machine, else at 1 / @slowdown. */
static void
add_gang(Market *market, AppId app, double slowdown)
{
	const Bidder bidder = { .agent = app,
		                .elapsed_ns = 1e9,
		                .forecast = forecast_of_work(400e9),
		                .ideal_ns = 200e9,
		                .value_of_nothing = 0.01 };

	bids_add_bidder(market->bids, &bidder);
	if (slowdown == 1)
		add_row(market, 4, (Choice){ 4 * GPU, everywhere(market) }, (Choice){ 0 });
	else
		add_row(market, 4, (Choice){ 4 * GPU, any_machine(market) },
		        (Choice){ (gint64)(4e9 / slowdown), everywhere(market) });
}

/* Two machines of 4, two apps of VGG16: each has a machine of its own. */
START_TEST(test_instance_1)
{
	const guint offered[] = { 4, 4 };
	Market market = market_open("2x4", offered);

	add_gang(&market, 0, 1.289);
	add_gang(&market, 1, 1.289);
	run(&market, &exact);
	ck_assert_uint_ne(place_won(&market, 0), place_won(&market, 1));
	ck_assert_uint_ge(place_won(&market, 0), any_machine(&market).first);
	ck_assert_uint_ge(place_won(&market, 1), any_machine(&market).first);
	ck_assert_double_eq(kept(&market, 0), 1);
	ck_assert_double_eq(kept(&market, 1), 1);
	market_close(&market);
}
END_TEST

/* One machine of 4 and two of 2: the one goes to VGG16, Inception, which does not mind, spans the
 * others, whoever came first. */
START_TEST(test_instance_2)
{
	const guint offered[] = { 4, 2, 2 };
	Market market = market_open("1x4,2x2", offered);
	guint vgg = _i;

	add_gang(&market, 0, vgg == 0 ? 1.289 : 1);
	add_gang(&market, 1, vgg == 1 ? 1.289 : 1);
	run(&market, &exact);
	ck_assert_uint_eq(place_won(&market, vgg), market.offer->machine_place[0]);
	ck_assert_uint_eq(place_won(&market, 1 - vgg), everywhere(&market).first);
	market_close(&market);
}
END_TEST

/* the search */

/* Three gangs for two whole machines and two halves: two have a machine, one spans the halves, and
 * the numbers of GPUs alone promise more, so that it takes a search to be sure. */
static Market
market_of_three(void)
{
	const guint offered[] = { 4, 4, 2, 2 };
	Market market = market_open("2x4,2x2", offered);

	add_gang(&market, 0, 1.5);
	add_gang(&market, 1, 2);
	add_gang(&market, 2, 1.25);
	return market;
}

START_TEST(test_search)
{
	Market market = market_of_three();

	run(&market, &exact);
	ck_assert_uint_gt(market.auction->n_nodes, 0);
	ck_assert(!market.auction->is_truncated);
	ck_assert_uint_ge(place_won(&market, 0), any_machine(&market).first);
	ck_assert_uint_ge(place_won(&market, 1), any_machine(&market).first);
	ck_assert_uint_eq(place_won(&market, 2), everywhere(&market).first);
	/* V = 200 / (1 + 400 / rate): with a machine 200/101, across 200/126 for the third. Without
	 * the first the third has a machine. */
	ck_assert_double_eq_tol(kept(&market, 0), 101.0 / 126, 1e-9);
	ck_assert_double_eq_tol(kept(&market, 1), 101.0 / 126, 1e-9);
	ck_assert_double_eq(kept(&market, 2), 1);
	market_close(&market);
}
END_TEST

START_TEST(test_truncated)
{
	const AuctionRules hasty = { .node_cap = 1 }, greedy = { .is_greedy = TRUE };
	Market market = market_of_three();

	run(&market, &hasty);
	ck_assert(market.auction->is_truncated);
	ck_assert_uint_eq(n_won(&market, 0) + n_won(&market, 1) + n_won(&market, 2), 12);
	run(&market, &greedy);
	ck_assert(!market.auction->is_truncated);
	ck_assert_uint_eq(market.auction->n_nodes, 0);
	ck_assert_uint_eq(n_won(&market, 0) + n_won(&market, 1) + n_won(&market, 2), 12);
	market_close(&market);
}
END_TEST

/* tables */

/* A71: a row worth no more than a smaller one is not kept, nor its pieces. */
START_TEST(test_dominated_row)
{
	const guint offered[] = { 4 };
	Market market = market_open("1x4", offered);

	add_linear(&market, 0, 1, 1);
	ck_assert(!add_row(&market, 2, (Choice){ GPU, everywhere(&market) }, (Choice){ 0 }));
	ck_assert(add_row(&market, 3, (Choice){ 2 * GPU, everywhere(&market) }, (Choice){ 0 }));
	ck_assert_uint_eq(bids_bidder(market.bids, 0)->n_rows, 3);
	ck_assert_uint_eq(market.bids->pieces->len, 2);
	market_close(&market);
}
END_TEST

/* Two pairs that mind, and room for one pair in a machine: the bound knows. */
START_TEST(test_row_bound)
{
	const guint offered[] = { 2, 1, 1 };
	Market market = market_open("3x2", offered);
	const Choice choices[] = { { 2 * GPU, any_machine(&market) },
		                   { GPU, everywhere(&market) } };
	const Bidder bidder = { .forecast = forecast_of_work(1e12),
		                .ideal_ns = 1e12,
		                .value_of_nothing = 0.1 };
	Piece piece = { .n_gpus = 2, .n_choices = 2 };

	bids_add_bidder(market.bids, &bidder);
	piece.first_choice = bids_add_choices(market.bids, choices, 2);
	bids_add_piece(market.bids, &piece);
	bids_add_piece(market.bids, &piece);
	ck_assert(bids_end_row(market.bids, market.offer));
	ck_assert_int_eq(bids_row(market.bids, bids_bidder(market.bids, 0), 1)->rate_ppb, 3 * GPU);
	market_close(&market);
}
END_TEST

static const struct {
	double fairness_knob;
	guint n, n_up, n_down;
} filters[] = {
	{ 0.8, 5, 1, 1 },    { 0.6, 5, 2, 2 }, { 0, 5, 5, 5 },        { 1, 5, 1, 1 },
	{ 0.7, 10, 3, 3 },   { 0.8, 0, 1, 1 }, { 0.999, 1000, 1, 1 }, { 0.8, 85, 17, 17 },
	{ 0.8, 89, 18, 17 }, { 0.8, 4, 1, 1 },
};

/* E4 */
START_TEST(test_filter)
{
	double f = filters[_i].fairness_knob;

	ck_assert_uint_eq(round_n_bidders(f, filters[_i].n, FALSE), filters[_i].n_up);
	ck_assert_uint_eq(round_n_bidders(f, filters[_i].n, TRUE), filters[_i].n_down);
}
END_TEST

/* scores */

START_TEST(test_scores)
{
	Score tiny = score_of(1);

	for (guint i = 0; i < 1000; i++)
		tiny = score_times(tiny, score_of(1e-6));
	ck_assert(score_rank(tiny) < score_rank_of(1e-300));
	ck_assert(score_rank(tiny) > score_rank_of(0));
	ck_assert(score_rank_of(INFINITY) > score_rank_of(1e300));
	ck_assert(score_rank_of(NAN) == score_rank_of(0));
	ck_assert_double_eq_tol(score_ratio(score_times(tiny, score_of(3)), tiny), 3, 1e-12);
	ck_assert_int_eq(score_rank_of(1.0), score_rank_of(1 + 1e-11));
	ck_assert_int_lt(score_rank_of(1.0), score_rank_of(1 + 1e-9));
	/* From below a power of two to it. */
	ck_assert_int_eq(score_rank_of(1.0), score_rank_of(1 - 1e-11));
	ck_assert_int_eq(score_rank_of(1.0) - score_rank_of(0.5), G_GINT64_CONSTANT(1) << 31);
}
END_TEST

static Suite *
auction_suite(void)
{
	Suite *suite = suite_create("auction");
	TCase *tcase = tcase_create("auction");

	tcase_add_test(tcase, test_e1);
	tcase_add_test(tcase, test_e2_tables);
	tcase_add_test(tcase, test_e2_auction);
	tcase_add_loop_test(tcase, test_alike, 0, G_N_ELEMENTS(alike));
	tcase_add_loop_test(tcase, test_divisible, 0, G_N_ELEMENTS(divisible));
	tcase_add_test(tcase, test_tie);
	tcase_add_test(tcase, test_no_contest);
	tcase_add_test(tcase, test_nothing_offered);
	tcase_add_test(tcase, test_instance_1);
	tcase_add_loop_test(tcase, test_instance_2, 0, 2);
	tcase_add_test(tcase, test_search);
	tcase_add_test(tcase, test_truncated);
	tcase_add_test(tcase, test_dominated_row);
	tcase_add_test(tcase, test_row_bound);
	tcase_add_loop_test(tcase, test_filter, 0, G_N_ELEMENTS(filters));
	tcase_add_test(tcase, test_scores);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(auction_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
