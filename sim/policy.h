/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one header that a policy includes: the contract (policy_class), what it may see (view) and
 * do (plan), and ready answers to "where?" (placement), "in which order?" (walk, backlog, score),
 * "for how long?" (leases, rounds) and "by which edits?" (moves).
 *
 * A policy is a static const PolicyClass in one file. `decide` is called once an instant at which
 * something happened; it reads the View and edits the Plan. See docs/add-a-policy.md.
 */

#include "policies/backlog.h"
#include "policies/fragmentation.h"
#include "policies/greedy.h"
#include "policies/leases.h"
#include "policies/moves.h"
#include "policies/placement.h"
#include "policies/rounds.h"
#include "policies/walk.h"
#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/score.h"
#include "sim/base/text.h"
#include "sim/engine/policy_class.h"
