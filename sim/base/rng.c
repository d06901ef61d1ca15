/* SPDX-License-Identifier: MIT */
#include "sim/base/rng.h"

#define PHILOX_ROUNDS 10

/* The multipliers and the key schedule (golden ratio, sqrt(3) - 1) of the paper's Philox4x32. */
static const guint32 multipliers[2] = { 0xD2511F53u, 0xCD9E8D57u };
static const guint32 weyl[2] = { 0x9E3779B9u, 0xBB67AE85u };

void
rng_philox(const guint32 counter[4], const guint32 key[2], guint32 ret_block[4])
{
	guint32 c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	guint32 k0 = key[0], k1 = key[1];

	for (guint i = 0; i < PHILOX_ROUNDS; i++) {
		guint64 product0 = (guint64)multipliers[0] * c0;
		guint64 product1 = (guint64)multipliers[1] * c2;

		c0 = (guint32)(product1 >> 32) ^ c1 ^ k0;
		c1 = (guint32)product1;
		c2 = (guint32)(product0 >> 32) ^ c3 ^ k1;
		c3 = (guint32)product0;
		k0 += weyl[0];
		k1 += weyl[1];
	}
	ret_block[0] = c0;
	ret_block[1] = c1;
	ret_block[2] = c2;
	ret_block[3] = c3;
}

/* 64 bits at the place (@high, @low) of the sequence that @key names. */
static guint64
block_draw(guint64 key, guint64 high, guint64 low)
{
	const guint32 counter[4] = { (guint32)low, (guint32)(low >> 32), (guint32)high,
		                     (guint32)(high >> 32) };
	const guint32 keys[2] = { (guint32)key, (guint32)(key >> 32) };
	guint32 block[4];

	rng_philox(counter, keys, block);
	return (guint64)block[1] << 32 | block[0];
}

RngStream
rng_stream(guint64 seed, const char *name)
{
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325); /* FNV-1a */

	for (const char *p = name; *p; p++)
		hash = (hash ^ (guchar)*p) * G_GUINT64_CONSTANT(0x100000001b3);
	return (RngStream){ .key = block_draw(seed, hash, 0) };
}

guint64
rng_draw(RngStream stream, guint64 entity, guint64 draw)
{
	return block_draw(stream.key, entity, draw);
}

/*
 * Lemire's multiply-shift: the upper half of bits * n is even over 0 .. n - 1 once the draws
 * whose lower half is below 2^64 mod n are thrown away. A thrown draw is taken again under the
 * next key, since the next counter is somebody else's draw.
 */
guint64
rng_below(RngStream stream, guint64 entity, guint64 draw, guint64 n)
{
	unsigned __int128 product;
	guint64 unfair;

	g_assert(n > 0);
	unfair = -n % n;
	do {
		product = (unsigned __int128)block_draw(stream.key++, entity, draw) * n;
	} while ((guint64)product < unfair);
	return (guint64)(product >> 64);
}

double
rng_unit(RngStream stream, guint64 entity, guint64 draw)
{
	return (double)(rng_draw(stream, entity, draw) >> 11) * 0x1p-53;
}
