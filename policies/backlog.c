/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "sim/policy.h"

struct Backlog {
	JobId *jobs;    /* by place, ascending; those removed keep their place for a while */
	SimTime *least; /* the tree: of node i the children are 2i and 2i + 1; places are the last
	                 * n_places nodes; TIME_NEVER where nobody is */
	guint n_places; /* a power of two */
	guint n_used;   /* places given out */
	guint n;        /* jobs */
};

Backlog *
backlog_new(void)
{
	Backlog *backlog = g_new0(Backlog, 1);

	backlog->n_places = 16;
	backlog->jobs = g_new(JobId, backlog->n_places);
	backlog->least = g_new(SimTime, 2 * backlog->n_places);
	for (guint i = 0; i < 2 * backlog->n_places; i++)
		backlog->least[i] = TIME_NEVER;
	return backlog;
}

void
backlog_free(Backlog *backlog)
{
	if (backlog == NULL)
		return;
	g_free(backlog->jobs);
	g_free(backlog->least);
	g_free(backlog);
}

/* The first place whose job is not below @job. */
static guint
place_of(const Backlog *backlog, JobId job)
{
	guint low = 0, high = backlog->n_used;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (backlog->jobs[middle] < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
set_length(Backlog *backlog, guint place, SimTime length_ns)
{
	guint node = backlog->n_places + place;

	backlog->least[node] = length_ns;
	for (node /= 2; node > 0; node /= 2)
		backlog->least[node] = MIN(backlog->least[2 * node], backlog->least[2 * node + 1]);
}

static void
find_minima(SimTime *least, guint n_places)
{
	for (guint node = n_places - 1; node > 0; node--)
		least[node] = MIN(least[2 * node], least[2 * node + 1]);
}

/* The line is full: closes its gaps, and doubles it unless they were many. */
static void
make_room(Backlog *backlog)
{
	guint n_places = backlog->n_places * (backlog->n > backlog->n_places / 2 ? 2 : 1);
	SimTime *least = g_new(SimTime, 2 * n_places);
	guint n = 0;

	for (guint i = 0; i < backlog->n_used; i++) {
		SimTime length_ns = backlog->least[backlog->n_places + i];

		if (length_ns == TIME_NEVER)
			continue;
		backlog->jobs[n] = backlog->jobs[i];
		least[n_places + n++] = length_ns;
	}
	for (guint i = n_places + n; i < 2 * n_places; i++)
		least[i] = TIME_NEVER;
	find_minima(least, n_places);
	g_free(backlog->least);
	backlog->least = least;
	backlog->jobs = g_renew(JobId, backlog->jobs, n_places);
	backlog->n_places = n_places;
	backlog->n_used = n;
}

/* Moves all from @place on up by one. */
static void
open_place(Backlog *backlog, guint place)
{
	guint n_behind = backlog->n_used++ - place;
	SimTime *lengths = backlog->least + backlog->n_places;

	if (n_behind == 0)
		return;
	memmove(backlog->jobs + place + 1, backlog->jobs + place, n_behind * sizeof(JobId));
	memmove(lengths + place + 1, lengths + place, n_behind * sizeof(SimTime));
	lengths[place] = TIME_NEVER;
	find_minima(backlog->least, backlog->n_places);
}

void
backlog_add(Backlog *backlog, JobId job, SimTime length_ns)
{
	guint place;

	g_assert(length_ns < TIME_NEVER);
	if (backlog->n_used == backlog->n_places)
		make_room(backlog);
	place = place_of(backlog, job);
	if (place == backlog->n_used || backlog->jobs[place] != job)
		open_place(backlog, place);
	g_assert(backlog->least[backlog->n_places + place] == TIME_NEVER);
	backlog->jobs[place] = job;
	set_length(backlog, place, length_ns);
	backlog->n++;
}

void
backlog_remove(Backlog *backlog, JobId job)
{
	guint place = place_of(backlog, job);

	if (place == backlog->n_used || backlog->jobs[place] != job ||
	    backlog->least[backlog->n_places + place] == TIME_NEVER)
		return;
	set_length(backlog, place, TIME_NEVER);
	backlog->n--;
}

/* Up from @from until a tree to the right has somebody, then down to its first. */
JobId
backlog_find(const Backlog *backlog, JobId from, SimTime most_ns)
{
	guint place = place_of(backlog, from);
	guint node = backlog->n_places + place;

	if (backlog->n == 0 || place == backlog->n_used || most_ns < 0)
		return JOB_NONE;
	most_ns = MIN(most_ns, TIME_NEVER - 1);
	while (backlog->least[node] > most_ns) {
		while (node % 2 == 1) /* a right child: all of its parent has been seen */
			node /= 2;
		if (node == 0)
			return JOB_NONE;
		node++;
	}
	while (node < backlog->n_places)
		node = 2 * node + (backlog->least[2 * node] > most_ns);
	return backlog->jobs[node - backlog->n_places];
}
