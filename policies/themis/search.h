/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Branch and bound over deals: bidders in order, rows from the largest, pieces, their choices, and
 * places, one for all that are alike.
 */

#include "policies/themis/counts.h"

typedef struct SearchLimit {
	guint64 n_nodes; /* so far */
	guint64 cap;
	gboolean was_hit;
} SearchLimit;

/* Replaces @deal by a better one until there is none; by one that ties with it but is preferred by
 * an earlier bidder (bids_nth_row()) if all bidders take part. */
void search_run(Deal *deal, const Bids *bids, Offer *offer, Counts *counts, SearchLimit *limit);
