/* SPDX-License-Identifier: MIT */

/*
 * What must hold for the auction on every market: on small random ones it finds what trying all
 * machine-count vectors finds, leaves nothing that somebody could have at nobody's cost, and with
 * two goods that can be divided no lie helps. THEMIS_SEED=n reruns one market.
 */

#include <check.h>
#include <stdlib.h>

#include "policies/themis/auction.h"
#include "tests/fixture.h"

#define N_MARKETS    500
#define MAX_MACHINES 4
#define MAX_BIDDERS  3
#define MAX_ENTRIES  256
#define GPU          NS_PER_S

/* Four machines of 3 in two racks of two; slowdowns by level differ from bidder to bidder. */
static const char two_racks[] = "racks:\n"
                                "  - count: 2\n"
                                "    machines:\n"
                                "      - {count: 2, gpus: 3}\n";

/* One way to take GPUs: so many of each machine. */
typedef struct Entry {
	guint counts[MAX_MACHINES];
	guint n_gpus;
	double value;
} Entry;

typedef struct Player {
	guint n_jobs;             /* 1: one moldable or rigid job; 2: gangs of pair each */
	guint gang;               /* of a rigid job, or of each of two; 0 = moldable */
	guint most;               /* more GPUs that it can use */
	guint held[MAX_MACHINES]; /* kept, of one machine */
	guint n_held;
	gint64 speed_ppb[N_LEVELS];
	Bidder bidder;
	Entry entries[MAX_ENTRIES];
	guint n_entries;
} Player;

typedef struct World {
	RngStream stream;
	guint64 market, n_draws;
	Fixture *fixture; /* for its cluster */
	const ClusterSpec *spec;
	Cluster *cluster;
	Offer *offer;
	Bids *bids;
	Auction *auction;
	guint n_machines, n_players;
	guint offered[MAX_MACHINES];
	Player players[MAX_BIDDERS];
} World;

static guint
draw(World *world, guint n)
{
	return (guint)rng_below(world->stream, world->market, world->n_draws++, n);
}

/* markets */

static void
draw_speeds(World *world, Player *player)
{
	static const gint64 steps[] = { 0, 0, 100000000, 250000000 };
	gint64 speed_ppb = GPU;

	for (guint level = LEVEL_SLOT; level < N_LEVELS; level++) {
		if (level > LEVEL_MACHINE)
			speed_ppb -= steps[draw(world, G_N_ELEMENTS(steps))];
		player->speed_ppb[level] = speed_ppb;
	}
}

/* The rate of so many GPUs of each machine, for one job. */
static gint64
rate_of(const World *world, const Player *player, const guint *counts)
{
	guint n_machines = 0, n_racks = 0, n_gpus = 0;
	guint32 rack = G_MAXUINT32;
	PlacementLevel level = LEVEL_CLUSTER;

	for (guint m = 0; m < world->n_machines; m++) {
		if (counts[m] == 0)
			continue;
		n_machines++;
		n_gpus += counts[m];
		n_racks += world->spec->machines[m].rack != rack;
		rack = world->spec->machines[m].rack;
	}
	if (n_machines <= 1)
		level = LEVEL_MACHINE;
	else if (n_racks == 1)
		level = LEVEL_RACK;
	return n_gpus * player->speed_ppb[level];
}

static void
draw_player(World *world, guint number)
{
	Player *player = &world->players[number];
	guint kind = draw(world, 4);

	memset(player, 0, sizeof(*player));
	draw_speeds(world, player);
	player->n_jobs = kind == 3 ? 2 : 1;
	if (kind >= 2)
		player->gang = 2 + draw(world, kind == 2 ? 3 : 1);
	player->most = player->gang > 0 ? player->n_jobs * player->gang : 1 + draw(world, 4);
	if (kind == 1) {
		guint machine = draw(world, world->n_machines);

		player->held[machine] = MIN(1 + draw(world, 2), 3 - world->offered[machine]);
		player->n_held = player->held[machine];
	}
	player->bidder = (Bidder){
		.agent = number,
		.held_ppb = rate_of(world, player, player->held),
		.elapsed_ns = draw(world, 4) * 50e9,
		.forecast = forecast_of_work((1 + draw(world, 5)) * 100e9),
		.ideal_ns = (1 + draw(world, 3)) * 100e9,
	};
	player->bidder.value_of_nothing =
	    player->bidder.held_ppb > 0 ? bidder_value(&player->bidder, player->bidder.held_ppb)
	                                : 0.01;
}

static void
hold_rest(World *world)
{
	const Job busy = { .share_milli = GPU_MILLI, .gpu_types = GPU_TYPE_ANY };
	Alloc held = { 0 };

	for (guint m = 0; m < world->n_machines; m++)
		for (guint i = world->offered[m]; i < 3; i++)
			alloc_add(&held, world->spec->machines[m].first_gpu + i);
	if (held.n > 0)
		cluster_take(world->cluster, &busy, &held);
	alloc_clear(&held);
}

/* The second phase of an app that tunes is half as wide; some markets go by speed; in some the
 * first bidder prefers to leave what others may use as well. */
static void
draw_manners(World *world)
{
	gboolean is_of_speed = draw(world, 4) == 0;

	world->bids->prefers_few = draw(world, 2);
	for (guint i = 0; i < world->n_players; i++) {
		Bidder *bidder = &world->players[i].bidder;

		bidder->bids_speed = is_of_speed;
		if (draw(world, 3) == 0 && world->players[i].n_jobs == 1) {
			guint width = 1 + draw(world, 4);

			bidder->forecast.n_phases = 2;
			bidder->forecast.phases[1] =
			    (Phase){ bidder->forecast.phases[0].work_gpu_ns, width };
			bidder->forecast.phases[0].cap_gpus = 2 * width;
		}
		if (is_of_speed)
			bidder->value_of_nothing = SPEED_VALUE_OF_NOTHING;
		else if (bidder->held_ppb > 0)
			bidder->value_of_nothing = bidder_value(bidder, bidder->held_ppb);
	}
}

static void
open_world(World *world, guint64 market)
{
	*world = (World){ .stream = rng_stream(market, "prop-auction"), .market = market };
	world->fixture = fixture_new("A,0,1,1", two_racks);
	world->spec = world->fixture->cluster;
	world->n_machines = world->spec->n_machines;
	world->cluster = cluster_new(world->spec);
	world->bids = bids_new();
	world->auction = auction_new();
	for (guint m = 0; m < world->n_machines; m++)
		world->offered[m] = draw(world, 4);
	hold_rest(world);
	world->offer = offer_new(world->spec, world->fixture->models, LEVEL_CLUSTER);
	offer_fill(world->offer, world->cluster);
	world->n_players = 1 + draw(world, MAX_BIDDERS);
	for (guint i = 0; i < world->n_players; i++)
		draw_player(world, i);
	draw_manners(world);
}

static void
close_world(World *world)
{
	auction_free(world->auction);
	bids_free(world->bids);
	offer_free(world->offer);
	cluster_free(world->cluster);
	fixture_free(world->fixture);
}

/* the tables that the auction gets */

static PlaceRange
one_place(guint32 place)
{
	return (PlaceRange){ place, place + 1 };
}

/* Where one job of @player could have @n_gpus more, the best first; FALSE if nowhere. */
static gboolean
add_piece(World *world, const Player *player, guint n_gpus)
{
	guint n = player->n_held + n_gpus, n_choices = 0;
	Choice choices[N_LEVELS];
	Piece piece = { .n_gpus = n_gpus };

	for (guint level = LEVEL_MACHINE; level < N_LEVELS; level++) {
		gint64 rate_ppb = n * player->speed_ppb[level] - player->bidder.held_ppb;
		PlaceRange range = offer_range(world->offer, 0, level);

		for (guint m = 0; m < world->n_machines; m++)
			if (player->held[m] > 0)
				range = one_place(offer_place_of(
				    world->offer, world->spec->machines[m].first_gpu, level));
		if (n == 1)
			range = offer_range(world->offer, 0, LEVEL_CLUSTER);
		if (rate_ppb > 0 && offer_best_fit(world->offer, range, n_gpus) != PLACE_NONE)
			choices[n_choices++] = (Choice){ rate_ppb, range };
		if (n == 1)
			break;
	}
	piece.n_choices = n_choices;
	piece.first_choice = bids_add_choices(world->bids, choices, n_choices);
	bids_add_piece(world->bids, &piece);
	return n_choices > 0;
}

static void
add_table(World *world, const Player *player)
{
	bids_add_bidder(world->bids, &player->bidder);
	for (guint n = 1; n <= player->most; n++) {
		guint width = player->gang > 0 ? player->gang : n;
		gboolean is_possible = n % width == 0;

		for (guint i = 0; i < n / width && is_possible; i++)
			is_possible = add_piece(world, player, width);
		if (is_possible)
			bids_end_row(world->bids, world->offer);
		else
			bids_drop_row(world->bids);
	}
}

/* all machine-count vectors */

static void
add_entry(Player *player, const guint *counts, guint n_gpus, gint64 rate_ppb)
{
	Entry *entry = &player->entries[player->n_entries++];

	g_assert(player->n_entries <= MAX_ENTRIES);
	memcpy(entry->counts, counts, sizeof(entry->counts));
	entry->n_gpus = n_gpus;
	entry->value =
	    n_gpus == 0 ? player->bidder.value_of_nothing : bidder_value(&player->bidder, rate_ppb);
}

/* The next vector of counts up to what is offered; FALSE after the last. */
static gboolean
next_counts(const World *world, guint *counts)
{
	for (guint m = 0; m < world->n_machines; m++) {
		if (counts[m] < world->offered[m]) {
			counts[m]++;
			return TRUE;
		}
		counts[m] = 0;
	}
	return FALSE;
}

static guint
sum_of(const guint *counts)
{
	guint sum = 0;

	for (guint m = 0; m < MAX_MACHINES; m++)
		sum += counts[m];
	return sum;
}

static void
list_single(const World *world, Player *player)
{
	guint counts[MAX_MACHINES] = { 0 };

	do {
		guint n = sum_of(counts), all[MAX_MACHINES];

		for (guint m = 0; m < MAX_MACHINES; m++)
			all[m] = counts[m] + player->held[m];
		if (n <= player->most && (player->gang == 0 || n % player->gang == 0))
			add_entry(player, counts, n, rate_of(world, player, all));
	} while (next_counts(world, counts));
}

/* Two gangs: none, one, or both, each where it can be. */
static void
list_pair(const World *world, Player *player)
{
	guint one[MAX_MACHINES] = { 0 };

	add_entry(player, one, 0, 0);
	do {
		guint other[MAX_MACHINES] = { 0 }, both[MAX_MACHINES];

		if (sum_of(one) != player->gang)
			continue;
		add_entry(player, one, player->gang, rate_of(world, player, one));
		do {
			gboolean fits = sum_of(other) == player->gang;

			for (guint m = 0; m < MAX_MACHINES; m++) {
				both[m] = one[m] + other[m];
				fits = fits && both[m] <= world->offered[m];
			}
			if (fits)
				add_entry(player, both, 2 * player->gang,
				          rate_of(world, player, one) +
				              rate_of(world, player, other));
		} while (next_counts(world, other));
	} while (next_counts(world, one));
}

/* A71: what is worth no more than some smaller one goes. */
static void
drop_dominated(Player *player)
{
	guint n_kept = 0;
	Entry all[MAX_ENTRIES];
	guint n_all = player->n_entries;

	memcpy(all, player->entries, n_all * sizeof(Entry));
	for (guint i = 0; i < n_all; i++) {
		gboolean is_better = TRUE;

		for (guint j = 0; j < n_all && is_better; j++)
			if (all[j].n_gpus < all[i].n_gpus &&
			    (player->n_jobs == 1 || all[j].n_gpus == 0))
				is_better =
				    score_rank_of(all[i].value) > score_rank_of(all[j].value);
		if (is_better)
			player->entries[n_kept++] = all[i];
	}
	player->n_entries = n_kept;
}

static void
list_entries(const World *world, Player *player)
{
	if (player->n_jobs == 1)
		list_single(world, player);
	else
		list_pair(world, player);
	drop_dominated(player);
}

/* the best of all */

typedef struct Best {
	Score product;
	guint sizes[MAX_BIDDERS];
	gboolean is_any;
	/* What the auction found, to be beaten by nobody without loss to somebody. */
	double found[MAX_BIDDERS];
	gboolean is_beaten;
} Best;

typedef struct Walk {
	const World *world;
	guint without;
	guint left[MAX_MACHINES];
	const Entry *chosen[MAX_BIDDERS];
	Best best;
} Walk;

/* The first bidder for whom it matters prefers more, or the least, but not nothing. */
static gboolean
pleases_the_first(const Walk *walk)
{
	for (guint i = 0; i < walk->world->n_players; i++) {
		guint n, best = walk->best.sizes[i];

		if (i == walk->without || walk->chosen[i]->n_gpus == best)
			continue;
		n = walk->chosen[i]->n_gpus;
		if (n == 0 || best == 0 || !walk->world->bids->prefers_few)
			return n > best;
		return n < best;
	}
	return FALSE;
}

static void
check_beaten(Walk *walk)
{
	gboolean is_loss = FALSE, is_gain = FALSE;

	for (guint i = 0; i < walk->world->n_players; i++) {
		gint64 had = score_rank_of(walk->best.found[i]);
		gint64 has = score_rank_of(walk->chosen[i]->value);

		is_loss |= has < had;
		is_gain |= has > had;
	}
	walk->best.is_beaten |= is_gain && !is_loss;
}

static void
judge(Walk *walk)
{
	Score product = score_of(1);
	gint64 rank, best = score_rank(walk->best.product);

	for (guint i = 0; i < walk->world->n_players; i++)
		if (i != walk->without)
			product = score_times(product, score_of(walk->chosen[i]->value));
	if (walk->without == G_MAXUINT)
		check_beaten(walk);
	rank = score_rank(product);
	if (walk->best.is_any && (rank < best || (rank == best && !pleases_the_first(walk))))
		return;
	walk->best.product = product;
	walk->best.is_any = TRUE;
	for (guint i = 0; i < walk->world->n_players; i++)
		walk->best.sizes[i] = i == walk->without ? 0 : walk->chosen[i]->n_gpus;
}

static void
walk_from(Walk *walk, guint player)
{
	const Player *who = &walk->world->players[player];

	if (player == walk->world->n_players) {
		judge(walk);
		return;
	}
	if (player == walk->without) {
		walk_from(walk, player + 1);
		return;
	}
	for (guint i = 0; i < who->n_entries; i++) {
		const Entry *entry = &who->entries[i];
		gboolean fits = TRUE;

		for (guint m = 0; m < MAX_MACHINES; m++)
			fits = fits && entry->counts[m] <= walk->left[m];
		if (!fits)
			continue;
		for (guint m = 0; m < MAX_MACHINES; m++)
			walk->left[m] -= entry->counts[m];
		walk->chosen[player] = entry;
		walk_from(walk, player + 1);
		for (guint m = 0; m < MAX_MACHINES; m++)
			walk->left[m] += entry->counts[m];
	}
}

static Best
find_best(const World *world, guint without, const double *found)
{
	Walk walk = { .world = world, .without = without };

	memcpy(walk.left, world->offered, sizeof(walk.left));
	if (found != NULL)
		memcpy(walk.best.found, found, sizeof(walk.best.found));
	walk_from(&walk, 0);
	return walk.best;
}

/* what the auction found */

/* What the bidder's award is worth; takes its places. */
static double
take_award(const World *world, guint number)
{
	const Award *award = auction_award(world->auction, number);
	const Bidder *bidder = bids_bidder(world->bids, number);
	const Row *row = bids_row(world->bids, bidder, award->row);
	gint64 rate_ppb = bidder->held_ppb;

	if (award->row == 0)
		return bidder->value_of_nothing;
	for (guint i = 0; i < row->n_pieces; i++) {
		const Piece *piece = bids_piece(world->bids, row, i);
		guint32 place =
		    g_array_index(world->auction->places, guint32, award->first_place + i);

		ck_assert(offer_has(world->offer, place, piece->n_gpus));
		offer_take(world->offer, place, piece->n_gpus);
		rate_ppb += piece_rate_ppb(world->bids, piece, place);
	}
	return bidder_value(bidder, rate_ppb);
}

static void
check_market(guint64 market)
{
	World world;
	const AuctionRules rules = { .node_cap = 10000000 };
	double values[MAX_BIDDERS] = { 0 };
	Score product = score_of(1);
	Best best;

	open_world(&world, market);
	for (guint i = 0; i < world.n_players; i++)
		add_table(&world, &world.players[i]);
	for (guint i = 0; i < world.n_players; i++)
		list_entries(&world, &world.players[i]);
	auction_run(world.auction, world.bids, world.offer, &rules);
	ck_assert(!world.auction->is_truncated);
	for (guint i = 0; i < world.n_players; i++) {
		values[i] = take_award(&world, i);
		product = score_times(product, score_of(values[i]));
	}
	best = find_best(&world, G_MAXUINT, values);
	ck_assert_msg(ABS(score_rank(product) - score_rank(best.product)) <= 1,
	              "market %" G_GUINT64_FORMAT ": product is %g of the best", market,
	              score_ratio(product, best.product));
	ck_assert_msg(!best.is_beaten, "market %" G_GUINT64_FORMAT ": somebody could have more",
	              market);
	for (guint i = 0; i < world.n_players; i++) {
		const Award *award = auction_award(world.auction, i);
		guint n_gpus = bids_row(world.bids, bids_bidder(world.bids, i), award->row)->n_gpus;
		Best other = find_best(&world, i, NULL);
		Score others = score_of(1);

		ck_assert_msg(n_gpus == best.sizes[i],
		              "market %" G_GUINT64_FORMAT ": bidder %u has %u GPUs, not %u", market,
		              i, n_gpus, best.sizes[i]);
		for (guint j = 0; j < world.n_players; j++)
			if (j != i)
				others = score_times(others, score_of(values[j]));
		ck_assert_msg(fabs(award->kept - score_ratio(others, other.product)) < 1e-9,
		              "market %" G_GUINT64_FORMAT ": bidder %u keeps %g, not %g", market, i,
		              award->kept, score_ratio(others, other.product));
	}
	close_world(&world);
}

START_TEST(test_brute_force)
{
	const char *only = g_getenv("THEMIS_SEED");

	if (only != NULL)
		check_market(g_ascii_strtoull(only, NULL, 10));
	for (guint64 market = 0; market < N_MARKETS && only == NULL; market++)
		check_market(market);
}
END_TEST

/* lies */

#define N_OF_GOOD 12 /* GPUs of each of two types */

/* An app of many single-GPU jobs that values a GPU of the one type at a, of the other at b. */
typedef struct Liar {
	double a, b;
} Liar;

static void
add_linear(Bids *bids, Offer *offer, AppId app, Liar says)
{
	const Bidder bidder = { .agent = app,
		                .forecast = forecast_of_work(1e12),
		                .ideal_ns = 1e12,
		                .value_of_nothing = 1e-6 };
	Choice a = { (gint64)(says.a * GPU), offer_range(offer, 0, LEVEL_CLUSTER) };
	Choice b = { (gint64)(says.b * GPU), offer_range(offer, 1, LEVEL_CLUSTER) };
	const Choice choices[] = { says.a >= says.b ? a : b, says.a >= says.b ? b : a };
	const Piece piece = { .n_gpus = 1,
		              .first_choice = bids_add_choices(bids, choices, 2),
		              .n_choices = 2 };

	bids_add_bidder(bids, &bidder);
	for (guint n = 1; n <= 2 * N_OF_GOOD; n++) {
		for (guint i = 0; i < n; i++)
			bids_add_piece(bids, &piece);
		bids_end_row(bids, offer);
	}
}

/* What the first of two gets, c of its bundle, by its own true measure. */
static double
utility(Offer *offer, Liar says, Liar other, Liar truth)
{
	Bids *bids = bids_new();
	Auction *auction = auction_new();
	const AuctionRules rules = { .node_cap = 300000 };
	guint32 type_a = offer_range(offer, 0, LEVEL_CLUSTER).first;
	const Award *award;
	double sum = 0;

	add_linear(bids, offer, 0, says);
	add_linear(bids, offer, 1, other);
	auction_run(auction, bids, offer, &rules);
	award = auction_award(auction, 0);
	for (guint i = 0; i < bids_row(bids, bids_bidder(bids, 0), award->row)->n_gpus; i++)
		sum += g_array_index(auction->places, guint32, award->first_place + i) == type_a
		           ? truth.a
		           : truth.b;
	sum *= award->kept;
	auction_free(auction);
	bids_free(bids);
	return sum;
}

static const Liar truths[] = { { 1, 0.5 }, { 0.9, 0.3 }, { 0.5, 0.5 }, { 0.2, 1 }, { 0.7, 0.6 } };
static const Liar lies[] = { { 1, 0.1 }, { 0.1, 1 }, { 1, 1 }, { 0.5, 0.4 }, { 1, 0.8 } };

/* With goods that can be divided no lie gains anything. Bundles here are of whole GPUs, but what
 * is kept of them, c, is taken as it is. */
START_TEST(test_lies)
{
	Fixture *fixture = fixture_new("A,0,1,1", "1x12:a,1x12:b");
	Cluster *cluster = cluster_new(fixture->cluster);
	Offer *offer = offer_new(fixture->cluster, fixture->models, LEVEL_CLUSTER);
	Liar truth = truths[_i];

	offer_fill(offer, cluster);
	for (guint o = 0; o < G_N_ELEMENTS(truths); o++) {
		double honest = utility(offer, truth, truths[o], truth);

		for (guint l = 0; l < G_N_ELEMENTS(lies); l++) {
			double gain = utility(offer, lies[l], truths[o], truth) - honest;

			ck_assert_double_le(gain, 1e-6);
		}
	}
	offer_free(offer);
	cluster_free(cluster);
	fixture_free(fixture);
}
END_TEST

static Suite *
auction_suite(void)
{
	Suite *suite = suite_create("every auction");
	TCase *tcase = tcase_create("properties");

	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, test_brute_force);
	tcase_add_loop_test(tcase, test_lies, 0, G_N_ELEMENTS(truths));
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
