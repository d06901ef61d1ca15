/* SPDX-License-Identifier: MIT */

#include "policies/ftf_lp/program.h"

#include <math.h>

#include "policies/ftf_lp/linear.h"

/* Prices, and parts of the time, below these are none. */
#define PRICE_MIN 1e-7
#define SHARE_MIN 1e-9
#define MAX_STEPS 200

/* How finely a level is found: the first, and those after it, which stand on the rounding of the
 * first and find the load at 1 all the way. */
typedef struct Fineness {
	double most;  /* of the load, that counts as 1 */
	double least; /* of the load, that is as good as 1 */
	double width; /* of the bracket, relative */
} Fineness;

static const Fineness fine = { 1 + 1e-12, 1 - 1e-12, 1e-14 };
static const Fineness coarse = { 1 + 1e-9, 2, 1e-9 };

typedef struct Member {
	guint party;
	double gpus, left;
	guint first_column; /* of the linear program, where it has any */
} Member;

typedef struct Party {
	double elapsed, isolated;
	double left;     /* GPU-time at speed 1 */
	double gpus;     /* of all members */
	double best;     /* the rate with each member on its best type all the time */
	double alone;    /* the rate in isolation */
	double need;     /* the rate to be had at the level looked at */
	gboolean is_set; /* its need stays */
	guint row;
} Party;

struct FtfProgram {
	guint n_types;
	double *n_gpus;  /* by type */
	GArray *parties; /* of Party */
	GArray *members; /* of Member */
	GArray *speeds;  /* of double, by member and type */
	GArray *shares;  /* of double, by member and type: X */
	Linear *linear;
	guint load; /* its column of the load */
};

FtfProgram *
ftf_program_new(guint n_types, const double *n_gpus)
{
	FtfProgram *program = g_new0(FtfProgram, 1);

	program->n_types = n_types;
	program->n_gpus = g_memdup2(n_gpus, n_types * sizeof(double));
	program->parties = g_array_new(FALSE, FALSE, sizeof(Party));
	program->members = g_array_new(FALSE, FALSE, sizeof(Member));
	program->speeds = g_array_new(FALSE, FALSE, sizeof(double));
	program->shares = g_array_new(FALSE, TRUE, sizeof(double));
	program->linear = linear_new();
	return program;
}

void
ftf_program_free(FtfProgram *program)
{
	if (program == NULL)
		return;
	g_free(program->n_gpus);
	g_array_unref(program->parties);
	g_array_unref(program->members);
	g_array_unref(program->speeds);
	g_array_unref(program->shares);
	linear_free(program->linear);
	g_free(program);
}

static Party *
party_of(const FtfProgram *program, guint index)
{
	return &g_array_index(program->parties, Party, index);
}

static Member *
member_of(const FtfProgram *program, guint index)
{
	return &g_array_index(program->members, Member, index);
}

static double
speed(const FtfProgram *program, guint member, guint type)
{
	return g_array_index(program->speeds, double, member * program->n_types + type);
}

static double *
share(const FtfProgram *program, guint member, guint type)
{
	return &g_array_index(program->shares, double, member * program->n_types + type);
}

void
ftf_program_open(FtfProgram *program)
{
	g_array_set_size(program->parties, 0);
	g_array_set_size(program->members, 0);
	g_array_set_size(program->speeds, 0);
	g_array_set_size(program->shares, 0);
}

guint
ftf_program_add_party(FtfProgram *program, double elapsed, double isolated)
{
	Party party = { .elapsed = elapsed, .isolated = isolated };

	g_array_append_val(program->parties, party);
	return program->parties->len - 1;
}

guint
ftf_program_add_member(FtfProgram *program, double gpus, double left, const double *speeds)
{
	Member member = { .party = program->parties->len - 1, .gpus = gpus, .left = left };
	Party *party = party_of(program, member.party);
	double best = 0;

	for (guint type = 0; type < program->n_types; type++)
		best = MAX(best, speeds[type]);
	party->gpus += gpus;
	party->left += gpus * left;
	party->best += gpus * best;
	g_array_append_val(program->members, member);
	g_array_append_vals(program->speeds, speeds, program->n_types);
	return program->members->len - 1;
}

/* rates and levels */

/* GPUs of @type that are a party's part, all together no more than it can use (5.1). */
static double
isolated_gpus(const FtfProgram *program, const Party *party, guint type)
{
	double all = 0;

	for (guint other = 0; other < program->n_types; other++)
		all += program->n_gpus[other] / program->parties->len;
	return program->n_gpus[type] / program->parties->len * MIN(1, party->gpus / all);
}

/* X in isolation: the party's GPUs go to its members by their gangs. */
static void
share_in_isolation(FtfProgram *program)
{
	for (guint i = 0; i < program->members->len; i++) {
		const Party *party = party_of(program, member_of(program, i)->party);

		for (guint type = 0; type < program->n_types; type++)
			*share(program, i, type) =
			    isolated_gpus(program, party, type) / party->gpus;
	}
}

static double
rate(const FtfProgram *program, guint member)
{
	double sum = 0;

	for (guint type = 0; type < program->n_types; type++)
		sum += speed(program, member, type) * *share(program, member, type);
	return sum * member_of(program, member)->gpus;
}

static void
rate_isolation(FtfProgram *program)
{
	share_in_isolation(program);
	for (guint i = 0; i < program->members->len; i++)
		party_of(program, member_of(program, i)->party)->alone += rate(program, i);
}

static double
rho_at(const Party *party, double rate)
{
	double ideal = party->isolated + party->left / party->alone;

	return rate > 0 && ideal > 0 ? (party->elapsed + party->left / rate) / ideal : HUGE_VAL;
}

/* The rate that brings the party to @level; at most all it can use. Who has next to nothing left
 * to do gets that, too. */
static double
need_at(const Party *party, double level)
{
	double time = level * (party->isolated + party->left / party->alone) - party->elapsed;

	return time > 0 && party->left > 0 && party->left / time < party->best ? party->left / time
	                                                                       : party->best;
}

static gboolean
is_at_best(const Party *party)
{
	return party->need >= party->best;
}

/* the load of a level */

static gboolean
uses_linear(const FtfProgram *program)
{
	return program->n_types > 1;
}

/* One type: who needs a rate needs as many GPUs over its speed. */
static void
share_one_type(const FtfProgram *program)
{
	for (guint i = 0; i < program->members->len; i++) {
		const Party *party = party_of(program, member_of(program, i)->party);

		*share(program, i, 0) = speed(program, i, 0) > 0 ? party->need / party->best : 0;
	}
}

static double
load_of_one_type(const FtfProgram *program)
{
	double n_gpus = 0;

	share_one_type(program);
	for (guint i = 0; i < program->members->len; i++)
		n_gpus += member_of(program, i)->gpus * *share(program, i, 0);
	return n_gpus / program->n_gpus[0];
}

/* The rows: a party has its rate (as a part of its best one), a member no more than all of the
 * time, a type no more than its GPUs times the load. */
static void
add_rows(FtfProgram *program)
{
	for (guint i = 0; i < program->parties->len; i++)
		party_of(program, i)->row = linear_add_row(program->linear, 0, HUGE_VAL);
	for (guint i = 0; i < program->members->len; i++)
		linear_add_row(program->linear, -HUGE_VAL, 1);
	for (guint type = 0; type < program->n_types; type++)
		linear_add_row(program->linear, -HUGE_VAL, 0);
}

static void
add_member_columns(FtfProgram *program, guint index)
{
	Member *member = member_of(program, index);
	const Party *party = party_of(program, member->party);
	guint member_row = program->parties->len + index;
	guint first_type_row = program->parties->len + program->members->len;

	for (guint type = 0; type < program->n_types; type++) {
		double value = member->gpus * speed(program, index, type) / party->best;
		guint column = linear_add_column(program->linear, 0, value > 0 ? 1 : 0);

		if (type == 0)
			member->first_column = column;
		if (value <= 0)
			continue;
		linear_add_entry(program->linear, party->row, value);
		linear_add_entry(program->linear, member_row, 1);
		linear_add_entry(program->linear, first_type_row + type,
		                 member->gpus / program->n_gpus[type]);
	}
}

static void
load_linear(FtfProgram *program)
{
	guint first_type_row = program->parties->len + program->members->len;

	linear_open(program->linear);
	add_rows(program);
	for (guint i = 0; i < program->members->len; i++)
		add_member_columns(program, i);
	program->load = linear_add_column(program->linear, 1, HUGE_VAL);
	for (guint type = 0; type < program->n_types; type++)
		linear_add_entry(program->linear, first_type_row + type, -1);
	linear_load(program->linear);
}

static gboolean
find_load(FtfProgram *program, double *ret_load)
{
	if (!uses_linear(program)) {
		*ret_load = load_of_one_type(program);
		return TRUE;
	}
	for (guint i = 0; i < program->parties->len; i++) {
		const Party *party = party_of(program, i);

		linear_set_least(program->linear, party->row, party->need / party->best);
	}
	if (!linear_solve(program->linear))
		return FALSE;
	*ret_load = linear_value(program->linear, program->load);
	return TRUE;
}

static gboolean
load_at(FtfProgram *program, double level, double *ret_load)
{
	for (guint i = 0; i < program->parties->len; i++) {
		Party *party = party_of(program, i);

		if (!party->is_set)
			party->need = need_at(party, level);
	}
	return find_load(program, ret_load);
}

/* levels */

/* The levels between which the least is: below the first nobody can be, the second all can have. */
static void
find_bounds(const FtfProgram *program, double *ret_low, double *ret_high)
{
	*ret_low = HUGE_VAL;
	*ret_high = 0;
	for (guint i = 0; i < program->parties->len; i++) {
		const Party *party = party_of(program, i);

		if (party->is_set || party->left <= 0)
			continue;
		*ret_low = MIN(*ret_low, rho_at(party, party->best));
		*ret_high = MAX(*ret_high, rho_at(party, party->alone));
	}
}

/* At least the load when everybody has all he can use, whatever the types: often that says enough.
 */
static double
load_at_best(const FtfProgram *program)
{
	double wanted = 0, n_gpus = 0;

	for (guint i = 0; i < program->parties->len; i++)
		wanted += party_of(program, i)->is_set ? 0 : party_of(program, i)->gpus;
	for (guint type = 0; type < program->n_types; type++)
		n_gpus += program->n_gpus[type];
	return wanted / n_gpus;
}

/* Two levels, and by how much their loads are above and below 1. */
typedef struct Bracket {
	double low, high;
	double excess, lack; /* halved at times, see narrow() */
	double high_load;
	gint last; /* -1 or 1: the end that has moved last */
} Bracket;

/* Where a straight line through the ends reaches 1; in every third step, and where that would be
 * no step, the middle. */
static double
next_level(const Bracket *bracket, guint step)
{
	double width = bracket->high - bracket->low;
	double level = bracket->low + width * (bracket->excess / (bracket->excess + bracket->lack));

	if (step % 3 == 2 || !(level > bracket->low && level < bracket->high))
		return bracket->low + width / 2;
	return level;
}

/* Moves an end; when it is the same as last time, the other pulls less (the Illinois rule), lest
 * one end creep for ever. */
static void
narrow(Bracket *bracket, double level, double load, double most)
{
	gint side = load > most ? -1 : 1;

	if (side < 0) {
		bracket->low = level;
		bracket->excess = load - 1;
		bracket->lack /= bracket->last == side ? 2 : 1;
	} else {
		bracket->high = level;
		bracket->high_load = load;
		bracket->lack = MAX(0, 1 - load);
		bracket->excess /= bracket->last == side ? 2 : 1;
	}
	bracket->last = side;
}

/* The least level that all can have whose need is not set; leaves the needs there. */
static gboolean
find_level(FtfProgram *program, double low, double high, const Fineness *fineness)
{
	Bracket bracket = { .low = low, .high = high };
	double load;

	load = load_at_best(program);
	if (load <= 1 && !load_at(program, low, &load))
		return FALSE;
	if (load <= fineness->most)
		return TRUE;
	bracket.excess = load - 1;
	if (!load_at(program, high, &bracket.high_load))
		return FALSE;
	bracket.lack = MAX(0, 1 - bracket.high_load);
	for (guint step = 0; bracket.high - bracket.low > fineness->width * bracket.high &&
	                     bracket.high_load < fineness->least && step < MAX_STEPS;
	     step++) {
		double level = next_level(&bracket, step);

		if (!load_at(program, level, &load))
			return FALSE;
		narrow(&bracket, level, load, fineness->most);
	}
	return load_at(program, bracket.high, &load);
}

/* Sets the needs of those who cannot be better off: who has all it can use, and whose need has a
 * price. FALSE if nobody was left, or nobody was found. */
static gboolean
set_needs(FtfProgram *program)
{
	guint n_left = 0, n_found = 0;

	for (guint i = 0; i < program->parties->len; i++) {
		Party *party = party_of(program, i);

		if (party->is_set || is_at_best(party))
			continue;
		if (!uses_linear(program) ||
		    linear_price(program->linear, party->row) > PRICE_MIN) {
			party->is_set = TRUE;
			n_found++;
		} else {
			n_left++;
		}
	}
	return n_left > 0 && n_found > 0;
}

/* Of the X with these rates one of the least GPU-time. */
static gboolean
find_shares(FtfProgram *program)
{
	double load;

	if (!uses_linear(program)) {
		share_one_type(program);
		return TRUE;
	}
	linear_set_cost(program->linear, program->load, 0);
	linear_set_most(program->linear, program->load,
	                MAX(1, linear_value(program->linear, program->load)));
	for (guint i = 0; i < program->members->len; i++)
		for (guint type = 0; type < program->n_types; type++)
			linear_set_cost(program->linear, member_of(program, i)->first_column + type,
			                member_of(program, i)->gpus);
	if (!find_load(program, &load))
		return FALSE;
	for (guint i = 0; i < program->members->len; i++)
		for (guint type = 0; type < program->n_types; type++)
			*share(program, i, type) = linear_value(
			    program->linear, member_of(program, i)->first_column + type);
	return TRUE;
}

static gboolean
find_optimum(FtfProgram *program)
{
	const Fineness *fineness = &fine;
	double low, high;

	do {
		find_bounds(program, &low, &high);
		if (high == 0)
			high = low = 1; /* nobody has anything left to do */
		if (!find_level(program, low, high, fineness))
			return FALSE;
		fineness = &coarse;
	} while (set_needs(program));
	return find_shares(program);
}

/* To 32 bits of mantissa, as scores are before they are compared. */
static double
rounded(double value)
{
	const double ones = 4294967296.0;
	int exponent;
	double mantissa = frexp(value, &exponent);

	return ldexp(floor(mantissa * ones + 0.5) / ones, exponent);
}

gboolean
ftf_program_solve(FtfProgram *program)
{
	gboolean is_solved;

	g_array_set_size(program->shares, program->members->len * program->n_types);
	rate_isolation(program);
	if (uses_linear(program))
		load_linear(program);
	is_solved = find_optimum(program);
	if (!is_solved)
		share_in_isolation(program);
	for (guint i = 0; i < program->shares->len; i++) {
		double *value = &g_array_index(program->shares, double, i);

		*value = *value > SHARE_MIN ? rounded(*value) : 0;
	}
	return is_solved;
}

/* results */

double
ftf_program_share(const FtfProgram *program, guint member, guint type)
{
	return *share(program, member, type);
}

double
ftf_program_rho(const FtfProgram *program, guint party)
{
	double sum = 0;

	for (guint i = 0; i < program->members->len; i++)
		if (member_of(program, i)->party == party)
			sum += rate(program, i);
	return rho_at(party_of(program, party), sum);
}

double
ftf_program_isolated_rate(const FtfProgram *program, guint party)
{
	return party_of(program, party)->alone;
}

guint64
ftf_program_n_solved(const FtfProgram *program)
{
	return linear_n_solved(program->linear);
}

guint64
ftf_program_n_iterations(const FtfProgram *program)
{
	return linear_n_iterations(program->linear);
}
