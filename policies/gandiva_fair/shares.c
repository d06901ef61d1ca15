/* SPDX-License-Identifier: MIT */

/*
 * Whose GPUs are whose. Each GPU type is divided among the users by their tickets; what a user
 * has no jobs for goes to the others. Then users trade: who gains most from the better type buys
 * of it from who gains least, and pays with more GPUs of the other (policies.md 2.6).
 */

#include "policies/gandiva_fair/state.h"

/* A share that was sold still has tickets enough to be had if nobody else wants it. In GPUs. */
#define LEAST_SHARE 1e-3

static gboolean
has_type(const FairJob *job, guint type)
{
	return (job->types >> type) & 1;
}

static double
rate_on(const Fair *fair, const View *view, const Job *job, guint type)
{
	return (double)speed_type_ppb(view_models(view), fair->spec, job, type) /
	       (double)SPEED_ONE_PPB;
}

static void
book(Fair *fair, const View *view, const Job *job, int sign)
{
	const FairJob *own = &fair->jobs[job->id];
	FairUser *user = fair_user(fair, own->user);
	double gang = sign * fair_gang(job);

	user->n_jobs += sign;
	user->n_small += own->is_wide ? 0 : sign;
	user->wanted += gang;
	for (guint type = 0; type < fair->spec->n_types; type++) {
		if (!has_type(own, type))
			continue;
		user->stakes[type].wanted += gang;
		user->stakes[type].rate += gang * rate_on(fair, view, job, type);
	}
}

void
fair_shares_meet(Fair *fair, const View *view, const Job *job)
{
	book(fair, view, job, 1);
}

void
fair_shares_part(Fair *fair, const View *view, const Job *job)
{
	FairUser *user = fair_user(fair, fair->jobs[job->id].user);

	book(fair, view, job, -1);
	if (user->n_jobs > 0)
		return;
	user->wanted = 0; /* to the last digit */
	for (guint type = 0; type < fair->spec->n_types; type++)
		user->stakes[type] = (FairStake){ 0 };
}

/* dividing */

/* GPUs of @type that the user could still make use of. */
static double
use_for(const FairUser *user, guint type)
{
	double left = MIN(user->stakes[type].wanted, user->wanted - user->endowed);

	return user->n_jobs > 0 ? MAX(left, 0) : 0;
}

/* Gives those all they can use whose part is more than that; TRUE if there was one. */
static gboolean
satisfy(Fair *fair, guint type, guint8 *is_served, double *left, double *tickets)
{
	double per_ticket = *left / *tickets;
	gboolean has_any = FALSE;

	for (guint i = 0; i < fair->users->len; i++) {
		FairUser *user = fair_user(fair, i);
		double use = use_for(user, type);

		if (is_served[i] || user->tickets * per_ticket < use)
			continue;
		user->stakes[type].share = use;
		*left -= use;
		*tickets -= user->tickets;
		is_served[i] = has_any = TRUE;
	}
	return has_any && *tickets > 0;
}

/* Max-min fair by tickets, up to what each can use. */
static void
divide(Fair *fair, guint type)
{
	double left = fair->spec->types[type].n_gpus, tickets = 0;
	g_autofree guint8 *is_served = g_new0(guint8, fair->users->len);

	for (guint i = 0; i < fair->users->len; i++) {
		fair_user(fair, i)->stakes[type].share = 0;
		is_served[i] = use_for(fair_user(fair, i), type) <= 0;
		tickets += is_served[i] ? 0 : fair_user(fair, i)->tickets;
	}
	while (tickets > 0 && satisfy(fair, type, is_served, &left, &tickets))
		;
	for (guint i = 0; i < fair->users->len; i++) {
		FairUser *user = fair_user(fair, i);

		if (!is_served[i])
			user->stakes[type].share = left * user->tickets / tickets;
	}
	for (guint i = 0; i < fair->users->len; i++)
		fair_user(fair, i)->endowed += fair_user(fair, i)->stakes[type].share;
}

/* The mean speed on a type of the jobs that are here. */
static double
mean_rate(const Fair *fair, guint type)
{
	double rate = 0, wanted = 0;

	for (guint i = 0; i < fair->users->len; i++) {
		rate += fair_user(fair, i)->stakes[type].rate;
		wanted += fair_user(fair, i)->stakes[type].wanted;
	}
	return wanted > 0 ? rate / wanted : 0;
}

static void
sort_types(Fair *fair)
{
	for (guint i = 0; i < fair->spec->n_types; i++) {
		guint at = i;
		gint64 rank = score_rank_of(mean_rate(fair, i));

		for (; at > 0 && rank > score_rank_of(mean_rate(fair, fair->types[at - 1])); at--)
			fair->types[at] = fair->types[at - 1];
		fair->types[at] = i;
	}
}

/* trading */

/* What a user can do with two types: its jobs that could run on both, the part of its shares that
 * is theirs by the number of GPUs they want, and what they gain. The rest is not for sale, so that
 * jobs which need one of the types, or several servers, keep what they have. In GPUs. */
typedef struct Trader {
	FairUser *user;
	guint32 id;
	double wanted;
	double rate_pay, rate_buy; /* sums of gang x speed */
	double pay, buy;           /* GPUs of either type; of no use are more than wanted of both */
	double speedup;
} Trader;

static int
compare_traders(gconstpointer one, gconstpointer other)
{
	const Trader *a = one, *b = other;
	gint64 rank_a = score_rank_of(a->speedup), rank_b = score_rank_of(b->speedup);

	if (rank_a != rank_b)
		return rank_a > rank_b ? -1 : 1;
	return a->id < b->id ? -1 : 1;
}

static double
part_of_share(const FairStake *stake, double wanted)
{
	return stake->wanted > 0 ? stake->share * MIN(wanted / stake->wanted, 1) : 0;
}

/* By user: what its jobs want that could run on both types. */
static Trader *
sum_up(const Fair *fair, const View *view, guint pay, guint buy)
{
	Trader *traders = g_new0(Trader, fair->users->len);

	for (guint i = 0; i < fair->active->len; i++) {
		const Job *job = view_job(view, g_array_index(fair->active, JobId, i));
		const FairJob *own = &fair->jobs[job->id];
		Trader *trader = &traders[own->user];

		if (own->is_wide || !has_type(own, pay) || !has_type(own, buy))
			continue;
		trader->wanted += fair_gang(job);
		trader->rate_pay += fair_gang(job) * rate_on(fair, view, job, pay);
		trader->rate_buy += fair_gang(job) * rate_on(fair, view, job, buy);
	}
	return traders;
}

/* Those who gain most from @buy first. */
static GArray *
find_traders(const Fair *fair, const View *view, guint pay, guint buy)
{
	GArray *traders = g_array_new(FALSE, FALSE, sizeof(Trader));
	g_autofree Trader *all = sum_up(fair, view, pay, buy);

	for (guint i = 0; i < fair->users->len; i++) {
		Trader *trader = &all[i];

		if (trader->wanted <= 0)
			continue;
		trader->user = fair_user(fair, i);
		trader->id = i;
		trader->pay = part_of_share(&trader->user->stakes[pay], trader->wanted);
		trader->buy = part_of_share(&trader->user->stakes[buy], trader->wanted);
		trader->speedup = trader->rate_buy / trader->rate_pay;
		g_array_append_val(traders, *trader);
	}
	g_array_sort(traders, compare_traders);
	return traders;
}

static double
held(const FairUser *user, const Fair *fair)
{
	double sum = 0;

	for (guint type = 0; type < fair->spec->n_types; type++)
		sum += user->stakes[type].share;
	return sum;
}

/* More GPUs than the trader has that it could make use of. */
static double
use_for_more(const Fair *fair, const Trader *trader)
{
	double more = MIN(trader->wanted - trader->pay - trader->buy,
	                  trader->user->wanted - held(trader->user, fair));

	return MAX(more, 0);
}

/* GPUs that the buyer can pay, at @price GPUs each, and use. */
static double
most_bought(const Fair *fair, const Trader *buyer, double price)
{
	double most = MIN(buyer->pay / price, buyer->wanted - buyer->buy);

	if (price < 1)
		most = MIN(most, use_for_more(fair, buyer) / (1 - price));
	return MAX(most, 0);
}

/* GPUs that the seller has, and for which it can use what it gets. */
static double
most_sold(const Fair *fair, const Trader *seller, double price)
{
	double most = MIN(seller->buy, (seller->wanted - seller->pay) / price);

	if (price > 1)
		most = MIN(most, use_for_more(fair, seller) / (price - 1));
	return MAX(most, 0);
}

/* The trader gets @bought GPUs of one type for @paid of the other; less than 0 is the reverse. */
static void
exchange(Trader *trader, guint pay, guint buy, double paid, double bought)
{
	FairStake *stakes = trader->user->stakes;

	trader->pay = MAX(trader->pay - paid, 0);
	trader->buy = MAX(trader->buy + bought, 0);
	stakes[pay].share = MAX(stakes[pay].share - paid, 0);
	stakes[buy].share = MAX(stakes[buy].share + bought, 0);
}

/* Who gains most and who gains least trade until one of them can do no more; then the next. */
static void
trade(Fair *fair, const View *view, guint pay, guint buy)
{
	g_autoptr(GArray) traders = find_traders(fair, view, pay, buy);
	Trader *all = (Trader *)traders->data;
	guint first = 0, end = traders->len;

	while (first + 1 < end) {
		Trader *buyer = &all[first], *seller = &all[end - 1];
		double price = fair->options.price == FAIR_PRICE_SECOND
		                   ? all[first + 1].speedup
		                   : (buyer->speedup + seller->speedup) / 2;
		double bought = most_bought(fair, buyer, price);
		double sold = most_sold(fair, seller, price);
		double amount = MIN(bought, sold);

		if (score_rank_of(buyer->speedup) == score_rank_of(seller->speedup))
			return;
		exchange(buyer, pay, buy, amount * price, amount);
		exchange(seller, pay, buy, -amount * price, -amount);
		fair->n_trades += amount > 0;
		if (bought <= sold)
			first++;
		else
			end--;
	}
}

static void
trade_all(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->spec->n_types; i++)
		for (guint j = i + 1; j < fair->spec->n_types; j++)
			trade(fair, view, fair->types[j], fair->types[i]);
}

/* tickets */

static void
set_claims(Fair *fair, const View *view)
{
	for (guint i = 0; i < fair->active->len; i++) {
		FairJob *job = &fair->jobs[g_array_index(fair->active, JobId, i)];
		const FairUser *user = fair_user(fair, job->user);
		double gang = fair_gang(view_job(view, g_array_index(fair->active, JobId, i)));

		job->claim = MIN(gang, held(user, fair) / user->n_jobs);
	}
}

void
fair_shares_divide(Fair *fair, const View *view)
{
	sort_types(fair);
	for (guint i = 0; i < fair->users->len; i++)
		fair_user(fair, i)->endowed = 0;
	for (guint i = 0; i < fair->spec->n_types; i++)
		divide(fair, fair->types[i]);
	if (fair->options.trading)
		trade_all(fair, view);
	set_claims(fair, view);
}

/* A job's part of its user's share of a type. */
static double
part_of(const FairUser *user, guint type)
{
	return MAX(user->stakes[type].share, LEAST_SHARE) / user->stakes[type].n_jobs;
}

/* What all jobs of the user that belong to servers have of its shares where they are. */
static double
parts_of(const Fair *fair, const FairUser *user)
{
	double sum = 0;

	for (guint type = 0; type < fair->spec->n_types; type++)
		if (user->stakes[type].n_jobs > 0)
			sum += part_of(user, type) * user->stakes[type].n_jobs;
	return sum;
}

/* A user's tickets are split evenly over its jobs. Where there are several GPU types they follow
 * its shares of each: what it owns where it has no job counts where it has some, and what it has
 * gained by trade counts in full. */
static double
tickets_of(const Fair *fair, const FairJob *job)
{
	const FairUser *user = fair_user(fair, job->user);
	double even = user->tickets / user->n_jobs;
	double gained, part;

	if (job->is_wide || job->server == FAIR_NOWHERE || fair->spec->n_types == 1)
		return even;
	gained = user->endowed > 0 ? held(user, fair) / user->endowed : 1;
	part = part_of(user, fair_type_of(fair, job->server)) / parts_of(fair, user);
	return even * user->n_small * gained * part;
}

void
fair_shares_issue(Fair *fair)
{
	for (guint i = 0; i < fair->spec->n_machines; i++)
		fair->servers[i].tickets = 0;
	for (guint i = 0; i < fair->active->len; i++) {
		FairJob *job = &fair->jobs[g_array_index(fair->active, JobId, i)];

		job->tickets = tickets_of(fair, job);
		if (job->server != FAIR_NOWHERE)
			fair->servers[job->server].tickets += job->tickets;
	}
}

/* types of jobs */

/* What is asked of a share, as part of it, with the job there. HUGE_VAL of a share that is none.
 */
static double
crowding(const FairStake *stake, double asked)
{
	return stake->share > 0 ? asked / stake->share : HUGE_VAL;
}

guint
fair_shares_pick_type(const Fair *fair, const View *view, const Job *job, double *ret_gain)
{
	const FairJob *own = &fair->jobs[job->id];
	const FairUser *user = fair_user(fair, own->user);
	guint home = own->server != FAIR_NOWHERE ? fair_type_of(fair, own->server) : G_MAXUINT;
	guint best = G_MAXUINT;
	gboolean is_best_idle = FALSE;
	double best_crowding = 0, best_rate = 0, home_crowding = HUGE_VAL;

	for (guint type = 0; type < fair->spec->n_types; type++) {
		const FairStake *stake = &user->stakes[type];
		double asked = MAX(stake->asked - (type == home ? fair_gang(job) : 0), 0);
		double crowded = crowding(stake, asked + fair_gang(job));
		double rate = rate_on(fair, view, job, type);
		/* Some of the share is not asked for yet: it would go to others. */
		gboolean is_idle = score_rank_of(asked) < score_rank_of(stake->share);

		if (!has_type(own, type))
			continue;
		if (type == home)
			home_crowding = crowded;
		if (best != G_MAXUINT && is_idle == is_best_idle &&
		    (is_idle ? rate <= best_rate
		             : score_rank_of(crowded) >= score_rank_of(best_crowding)))
			continue;
		if (best != G_MAXUINT && is_best_idle && !is_idle)
			continue;
		best = type;
		is_best_idle = is_idle;
		best_crowding = crowded;
		best_rate = rate;
	}
	*ret_gain = is_best_idle ? HUGE_VAL : home_crowding - best_crowding;
	return best;
}
