/* SPDX-License-Identifier: MIT */

#include "policies/greedy/state.h"

/* What a party asks for next; good as long as it is known. */
typedef struct RoundBid {
	GreedyBid bid;
	GreedyKey key;
	guint32 party;
	gboolean is_known;
	gboolean is_out; /* can use nothing of what is left */
} RoundBid;

void
grants_open(Greedy *greedy)
{
	greedy->bids = g_array_new(FALSE, TRUE, sizeof(RoundBid));
}

void
grants_close(Greedy *greedy)
{
	g_clear_pointer(&greedy->bids, g_array_unref);
}

/* what a party asks for */

/* FALSE if @job can have nothing. On one GPU in turn it may have no room and on the next some. */
static gboolean
bid_for(Greedy *greedy, const View *view, JobId id, guint32 gpu, RoundBid *ret_bid)
{
	GreedyJob *own = &greedy->jobs[id];
	const Job *job = view_job(view, id);
	guint n_now = own->gpus.n, n_then = n_now > 0 ? n_now + 1 : job->min_gpus;
	const Alloc *where;

	if (own->footing != FOOTING_HERE || n_then > view_max_gpus(view, id) ||
	    own->misfit == greedy->round || !stock_may_fit(greedy, job, n_then - n_now))
		return FALSE;
	where = stock_find(greedy, view, job, gpu);
	if (where == NULL) {
		if (gpu == GPU_NONE)
			own->misfit = greedy->round;
		return FALSE;
	}
	ret_bid->bid = (GreedyBid){ .job = job,
		                    .party = own->party,
		                    .n_now = n_now,
		                    .n_then = n_then,
		                    .rate_now_ppb = own->rate_ppb };
	if (greedy->rules->needs_rates) {
		ret_bid->bid.rate_then_ppb = stock_rate_ppb(view, job, where);
		ret_bid->bid.factor_ppb = speed_placement_ppb(
		    view_models(view), job->model, cluster_spec_level(greedy->spec, where));
	}
	ret_bid->key = greedy->rules->key(greedy->self, view, &ret_bid->bid);
	return ret_bid->key != GREEDY_KEY_NONE;
}

static gboolean
bid_for_waiting(Greedy *greedy, const View *view, const Party *party, guint32 gpu, gboolean is_due,
                RoundBid *bid)
{
	for (guint i = 0; i < party->waiting->len; i++) {
		JobId job = g_array_index(party->waiting, JobId, i);

		if (greedy->jobs[job].is_due == is_due && bid_for(greedy, view, job, gpu, bid))
			return TRUE;
	}
	return FALSE;
}

/* Whoever gains most of a GPU more. */
static gboolean
bid_for_growing(Greedy *greedy, const View *view, const Party *party, guint32 gpu, RoundBid *bid)
{
	RoundBid next = *bid;
	gboolean is_any = FALSE;

	for (guint i = 0; i < party->holding->len; i++) {
		if (!bid_for(greedy, view, g_array_index(party->holding, JobId, i), gpu, &next))
			continue;
		if (!is_any || next.key < bid->key)
			*bid = next;
		is_any = TRUE;
	}
	return is_any;
}

static void
ask(Greedy *greedy, const View *view, guint32 gpu, RoundBid *bid)
{
	const Party *party = &greedy->parties[bid->party];

	bid->is_known = TRUE;
	bid->is_out = TRUE;
	bid->is_out = !(party->n_due > 0 && bid_for_waiting(greedy, view, party, gpu, TRUE, bid)) &&
	              !bid_for_waiting(greedy, view, party, gpu, FALSE, bid) &&
	              !bid_for_growing(greedy, view, party, gpu, bid);
}

/* who is best */

static gint
compare_ties(const Greedy *greedy, const RoundBid *one, const RoundBid *other)
{
	SimTime lost_ns[2] = { greedy->jobs[one->bid.job->id].lost_ns,
		               greedy->jobs[other->bid.job->id].lost_ns };

	if (greedy->options.ties == GREEDY_TIES_HELD) {
		if (one->bid.n_now != other->bid.n_now)
			return one->bid.n_now < other->bid.n_now ? -1 : 1;
		if (lost_ns[0] != lost_ns[1])
			return lost_ns[0] < lost_ns[1] ? -1 : 1;
	}
	return one->party < other->party ? -1 : one->party > other->party;
}

static gboolean
goes_before(const Greedy *greedy, const View *view, const RoundBid *one, const RoundBid *other)
{
	if (greedy->rules->beats != NULL)
		return greedy->rules->beats(greedy->self, view, &one->bid, &other->bid);
	if (one->key != other->key)
		return one->key < other->key;
	return compare_ties(greedy, one, other) < 0;
}

/* Where a bid depends on nothing but its own party, only the best one ever changes: they are kept
 * as a heap. */
static gboolean
is_heap(const Greedy *greedy)
{
	return !greedy->rules->needs_rates && greedy->rules->beats == NULL &&
	       greedy->options.grain != GREEDY_BY_GPU;
}

static RoundBid *
bid_at(const Greedy *greedy, guint i)
{
	return &g_array_index(greedy->bids, RoundBid, i);
}

static void
sift_down(Greedy *greedy, const View *view, guint at)
{
	for (;;) {
		guint first = at;
		RoundBid moved = *bid_at(greedy, at);

		for (guint child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < greedy->bids->len &&
			    goes_before(greedy, view, bid_at(greedy, child), bid_at(greedy, first)))
				first = child;
		if (first == at)
			return;
		*bid_at(greedy, at) = *bid_at(greedy, first);
		*bid_at(greedy, first) = moved;
		at = first;
	}
}

static void
make_heap(Greedy *greedy, const View *view)
{
	guint n = 0;

	for (guint i = 0; i < greedy->bids->len; i++) {
		ask(greedy, view, GPU_NONE, bid_at(greedy, i));
		if (!bid_at(greedy, i)->is_out)
			*bid_at(greedy, n++) = *bid_at(greedy, i);
	}
	g_array_set_size(greedy->bids, n);
	for (guint i = n / 2; i > 0; i--)
		sift_down(greedy, view, i - 1);
}

static RoundBid *
top_of_heap(Greedy *greedy, const View *view)
{
	while (greedy->bids->len > 0) {
		RoundBid *top = bid_at(greedy, 0);

		if (top->is_known)
			return top;
		ask(greedy, view, GPU_NONE, top);
		if (top->is_out)
			g_array_remove_index_fast(greedy->bids, 0);
		if (greedy->bids->len > 0)
			sift_down(greedy, view, 0);
	}
	return NULL;
}

static gboolean
is_over(const Greedy *greedy)
{
	return greedy->open->n_free == 0 && greedy->n_sharers == 0;
}

static RoundBid *
best_bid(Greedy *greedy, const View *view, guint32 gpu)
{
	RoundBid *best = NULL;

	if (is_over(greedy))
		return NULL;
	if (is_heap(greedy))
		return top_of_heap(greedy, view);
	for (guint i = 0; i < greedy->bids->len; i++) {
		RoundBid *bid = bid_at(greedy, i);

		if (!bid->is_known)
			ask(greedy, view, gpu, bid);
		if (!bid->is_out && (best == NULL || goes_before(greedy, view, bid, best)))
			best = bid;
	}
	return best;
}

/* giving out */

static gboolean
grant(Greedy *greedy, const View *view, const RoundBid *bid, guint32 gpu)
{
	const Job *job = bid->bid.job;
	GreedyJob *own = &greedy->jobs[job->id];
	const Alloc *where = stock_find(greedy, view, job, gpu);

	if (where == NULL)
		return FALSE;
	stock_touch(greedy, job->id);
	if (!own->is_due && !own->is_won)
		own->n_kept = own->gpus.n;
	own->is_won = TRUE;
	parties_set(greedy, view, job, where);
	return TRUE;
}

/* After a grant: bids that look at places or rates are to be made anew, and those of its party. */
static void
forget_bids(Greedy *greedy, RoundBid *granted)
{
	granted->is_known = FALSE;
	if (!greedy->rules->needs_rates)
		return;
	for (guint i = 0; i < greedy->bids->len; i++) {
		RoundBid *bid = bid_at(greedy, i);

		bid->is_known = bid->is_out; /* what is left only becomes less */
	}
}

static void
give_by_gang(Greedy *greedy, const View *view)
{
	RoundBid *best;

	while ((best = best_bid(greedy, view, GPU_NONE)) != NULL) {
		if (grant(greedy, view, best, GPU_NONE))
			forget_bids(greedy, best);
		best->is_known = FALSE;
	}
}

static void
give_by_app(Greedy *greedy, const View *view)
{
	RoundBid *best;

	while ((best = best_bid(greedy, view, GPU_NONE)) != NULL) {
		if (!grant(greedy, view, best, GPU_NONE)) { /* others have taken its place */
			best->is_known = FALSE;
			continue;
		}
		for (ask(greedy, view, GPU_NONE, best); !is_over(greedy) && !best->is_out;
		     ask(greedy, view, GPU_NONE, best))
			grant(greedy, view, best, GPU_NONE);
		forget_bids(greedy, best);
	}
}

static void
give_gpu(Greedy *greedy, const View *view, guint32 gpu)
{
	while (cluster_gpu_is_free(greedy->open, gpu)) {
		RoundBid *best;

		for (guint i = 0; i < greedy->bids->len; i++)
			bid_at(greedy, i)->is_known = FALSE;
		best = best_bid(greedy, view, gpu);
		if (best == NULL || !grant(greedy, view, best, gpu))
			return;
	}
}

static void
give_by_gpu(Greedy *greedy, const View *view)
{
	guint n_gpus = greedy->spec->n_gpus;

	for (guint32 gpu = cluster_next_free(greedy->open, 0, n_gpus); gpu < n_gpus;
	     gpu = cluster_next_free(greedy->open, gpu + 1, n_gpus))
		give_gpu(greedy, view, gpu);
	for (guint i = 0; i < greedy->bids->len; i++)
		bid_at(greedy, i)->is_known = FALSE;
	if (greedy->n_sharers > 0) /* there may be parts of GPUs left */
		give_by_gang(greedy, view);
}

static gint
by_party(gconstpointer a, gconstpointer b)
{
	const RoundBid *one = a, *other = b;

	return one->party < other->party ? -1 : one->party > other->party;
}

void
grants_hold(Greedy *greedy, const View *view)
{
	greedy->round++;
	g_array_set_size(greedy->bids, greedy->present->len);
	for (guint i = 0; i < greedy->present->len; i++)
		*bid_at(greedy, i) =
		    (RoundBid){ .party = g_array_index(greedy->present, guint32, i) };
	if (greedy->rules->beats != NULL) /* not transitive: the order of the scan matters */
		g_array_sort(greedy->bids, by_party);
	if (is_heap(greedy))
		make_heap(greedy, view);
	switch ((GreedyGrain)greedy->options.grain) {
	case GREEDY_BY_APP:
		give_by_app(greedy, view);
		break;
	case GREEDY_BY_GANG:
		give_by_gang(greedy, view);
		break;
	case GREEDY_BY_GPU:
		give_by_gpu(greedy, view);
		return;
	}
	seats_run(greedy, view);
}
