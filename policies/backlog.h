/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A line of waiting jobs in the order of their ids, each with a length, that answers: who is the
 * first from some place on whose length is at most so much? A tree of minima over the places in the
 * line; adding at the end, removing and asking cost O(log n). A line is also a plain first-in
 * first-out queue that can lose jobs from its middle.
 */

#include "sim/model/job.h"

typedef struct Backlog Backlog;

Backlog *backlog_new(void);
void backlog_free(Backlog *backlog);

/* @job is not in the line. Mostly it is larger than all that were ever added; one that comes back
 * to its place among them costs O(n), unless that was not closed yet. */
void backlog_add(Backlog *backlog, JobId job, SimTime length_ns);

/* Takes @job out; one that is not there is left alone. */
void backlog_remove(Backlog *backlog, JobId job);

/* The first job >= @from of at most @most_ns; JOB_NONE if there is none. */
JobId backlog_find(const Backlog *backlog, JobId from, SimTime most_ns);
