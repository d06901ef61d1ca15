/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The finish-time-fairness program of Gavel (Narayanan et al., OSDI'20, section 4.2), which later
 * papers call Themis. X_mj is the part of the time that member m (a gang) runs on GPUs of type j.
 * Find X that makes the largest rho of all parties the least,
 *
 *	rho_p(X) = (elapsed_p + left_p / rate_p(X)) / (isolated_p + left_p / rate_p(isolated)),
 *	rate_p(X) = sum over members m and types j of gpus_m speed_mj X_mj,
 *
 * with X >= 0, each member's X_mj adding up to at most 1, and gpus_m X_mj over all members to at
 * most the GPUs of type j. A party is one job in Gavel; it may also be an app of several. Isolated
 * is the n-th part of every type for each of n parties, or less if a party cannot use that much.
 *
 * That optimum says nothing of parties that could do better than the worst. So the program goes on,
 * as water rises: who cannot be better off stays at its rho, and the largest of the others is made
 * the least, until nobody is left. The rates that come of it are unique; of the X which give them
 * one of the least GPU-time is taken.
 *
 * For a level of rho every party needs a rate, at most what it could use at best. Whether all can
 * have it is a linear program: the least load, a factor of all GPUs, under which they can; with one
 * GPU type it is a sum. The least level of a load of at most 1 is found by bisection.
 */

#include <glib.h>

typedef struct FtfProgram FtfProgram;

/* @n_gpus by type. */
FtfProgram *ftf_program_new(guint n_types, const double *n_gpus);
void ftf_program_free(FtfProgram *program);

/* Empties it: no parties. */
void ftf_program_open(FtfProgram *program);

/* Times in any one unit; returns its number, from 0. */
guint ftf_program_add_party(FtfProgram *program, double elapsed, double isolated);

/* A gang of @gpus of the last party, with @left to do (time at speed 1), and its speed by type, 0
 * where it cannot run. Returns its number, from 0. */
guint ftf_program_add_member(FtfProgram *program, double gpus, double left, const double *speeds);

/* FALSE if CLP has failed: then X is that of isolation, as in Gavel. */
gboolean ftf_program_solve(FtfProgram *program);

/* X, rounded to 32 bits of mantissa (B02). */
double ftf_program_share(const FtfProgram *program, guint member, guint type);

/* Of a party under X, and its rate in isolation, in GPUs. HUGE_VAL where it gets nothing. */
double ftf_program_rho(const FtfProgram *program, guint party);
double ftf_program_isolated_rate(const FtfProgram *program, guint party);

guint64 ftf_program_n_solved(const FtfProgram *program);
guint64 ftf_program_n_iterations(const FtfProgram *program);
