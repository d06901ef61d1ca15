/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The auction if only the number of GPUs mattered, not where they are: the largest product of
 * valuations, every piece at its best choice. It is an upper bound for the real thing and, by
 * dynamic programming, easy. Where each piece has but one choice and all have the same, it is the
 * real thing.
 */

#include "policies/themis/deal.h"

typedef struct Counts Counts;

/* For the bidders of @bids and @n_gpus. */
Counts *counts_new(const Bids *bids, guint n_gpus);
void counts_free(Counts *counts);

/* No search is ever needed. */
gboolean counts_are_exact(const Counts *counts);

/* The bound, without one bidder or BIDDER_NONE. */
Score counts_bound(const Counts *counts, guint without);

/* Rows that reach the bound; with everybody in, those that the first bidder prefers, then the
 * next (bids_nth_row()). */
void counts_choose(const Counts *counts, Deal *deal);

/* The bound for the bidders from @first on, with at most @n_gpus. The one that counts was told of
 * by counts_leave_out() is not in it. */
Score counts_behind(const Counts *counts, guint first, guint n_gpus);

/* Whether bidders from @first on could, with @n_gpus and behind @prefix, tie with @deal's product
 * or beat it, and the first of them whose row differs from its row in @deal prefer that. */
gboolean counts_may_please_more(const Counts *counts, const Deal *deal, guint first, Score prefix,
                                guint n_gpus);

void counts_leave_out(Counts *counts, guint bidder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Counts, counts_free)
