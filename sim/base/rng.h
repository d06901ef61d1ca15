/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Counter-based random numbers: a draw is a pure function of (seed, stream name, entity, draw
 * number), so that another stream, job, policy or thread moves nobody's numbers.
 * Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11.
 */

#include <glib.h>

typedef struct RngStream {
	guint64 key;
} RngStream;

RngStream rng_stream(guint64 seed, const char *name);

/* 64 even bits. */
guint64 rng_draw(RngStream stream, guint64 entity, guint64 draw);

/* Even over 0 .. @n - 1, without bias; @n > 0. */
guint64 rng_below(RngStream stream, guint64 entity, guint64 draw, guint64 n);

/* Even over [0, 1), a multiple of 2^-53. */
double rng_unit(RngStream stream, guint64 entity, guint64 draw);

/* The bare block function, for tests against the published vectors. */
void rng_philox(const guint32 counter[4], const guint32 key[2], guint32 ret_block[4]);
