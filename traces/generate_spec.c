/* SPDX-License-Identifier: MIT */
#include "traces/generate_spec.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/text.h"
#include "sim/base/yaml.h"
#include "sim/model/cluster.h"
#include "sim/model/tuner.h"

#define HOUR_S             3600.0

/* Beyond these a number is a slip of the pen. */
#define MAX_GENERATED_JOBS 100000000
#define MAX_NUMBER         1e9

/* Readers complain and answer FALSE, so that reading goes on with the next key. */

/* Values */

static gboolean
refuse_node(const YamlNode *node, const char *key, const char *wanted)
{
	const char *text = yaml_text(node);
	g_autofree char *reason = g_strdup_printf("bad %s", key);

	if (text)
		yaml_complain(node, reason, "found \"%s\" for %s, wanted %s", text, key, wanted);
	else
		yaml_complain(node, reason, "found a %s for %s, wanted %s",
		              yaml_kind(node) == YAML_LIST ? "list" : "mapping", key, wanted);
	return FALSE;
}

/* Where what is wrong is not a value: @text says it all. */
static gboolean
refuse_part(const YamlNode *node, const char *key, const char *text)
{
	g_autofree char *reason = g_strdup_printf("bad %s", key);

	yaml_complain(node, reason, "%s", text);
	return FALSE;
}

static gboolean
refuse_missing(const YamlNode *map, const char *key)
{
	g_autofree char *text = g_strdup_printf("found no %s, wanted it here", key);

	return refuse_part(map, key, text);
}

static gboolean
node_to_number(const YamlNode *node, double *ret_number)
{
	return yaml_text(node) && decimal_parse_double(yaml_text(node), ret_number) &&
	       *ret_number >= 0 && *ret_number <= MAX_NUMBER;
}

/* An item of a list of pairs. */
static gboolean
read_pair(const YamlNode *item, const char *key, double *ret_value, double *ret_part)
{
	if (yaml_kind(item) == YAML_LIST && yaml_n(item) == 2 &&
	    node_to_number(yaml_item(item, 0), ret_value) &&
	    node_to_number(yaml_item(item, 1), ret_part))
		return TRUE;
	return refuse_node(item, key, "a pair [value, number] of numbers from 0 to 1000000000");
}

static gboolean
read_pairs(const YamlNode *list, const char *key, GArray *points)
{
	if (yaml_kind(list) != YAML_LIST || yaml_n(list) == 0)
		return refuse_node(list, key, "a list of pairs [value, number]");
	for (guint i = 0; i < yaml_n(list); i++) {
		VariatePoint point;

		if (!read_pair(yaml_item(list, i), key, &point.value, &point.up_to))
			return FALSE;
		g_array_append_val(points, point);
	}
	return TRUE;
}

/* Weights become parts of 1. The last is set to be 1, whatever rounding says. */
static gboolean
accumulate_weights(GArray *points)
{
	double sum = 0, so_far = 0;

	for (guint i = 0; i < points->len; i++)
		sum += g_array_index(points, VariatePoint, i).up_to;
	if (sum <= 0)
		return FALSE;
	for (guint i = 0; i < points->len; i++) {
		VariatePoint *point = &g_array_index(points, VariatePoint, i);

		so_far += point->up_to;
		point->up_to = so_far >= sum ? 1 : so_far / sum;
	}
	g_array_index(points, VariatePoint, points->len - 1).up_to = 1;
	return TRUE;
}

static gboolean
is_cdf(const GArray *points)
{
	const VariatePoint *point = &g_array_index(points, VariatePoint, 0);

	for (guint i = 1; i < points->len; i++)
		if (point[i].value < point[i - 1].value || point[i].up_to < point[i - 1].up_to)
			return FALSE;
	return point[points->len - 1].up_to == 1;
}

static gboolean
read_points(const YamlNode *list, const char *key, Variate *variate)
{
	variate->points = g_array_new(FALSE, FALSE, sizeof(VariatePoint));
	if (!read_pairs(list, key, variate->points))
		return FALSE;
	if (variate->kind == VARIATE_CHOICE)
		return accumulate_weights(variate->points) ||
		       refuse_part(list, key, "found no weight above 0, wanted one");
	return is_cdf(variate->points) ||
	       refuse_part(list, key,
	                   "found points in another order, wanted values and parts that never "
	                   "fall, and 1 as the last part");
}

/* Two numbers under their names; the second must not be 0. */
static gboolean
read_two(const YamlNode *map, const char *first, const char *second, Variate *variate)
{
	const char *const known[] = { first, second, NULL };
	gboolean is_ok = yaml_expect_keys(map, known);

	for (guint i = 0; i < 2; i++)
		if (is_ok && !yaml_find(map, known[i]))
			is_ok = refuse_missing(map, known[i]);
	return is_ok && yaml_get_number(map, first, 0, MAX_NUMBER, &variate->first) &&
	       yaml_get_number(map, second, 1e-6, MAX_NUMBER, &variate->second);
}

static gboolean
read_uniform(const YamlNode *map, Variate *variate)
{
	return read_two(map, "from", "to", variate) &&
	       (variate->first <= variate->second ||
	        refuse_part(map, "uniform", "found `to` below `from`, wanted the reverse"));
}

static gboolean
read_mean(const YamlNode *map, Variate *variate)
{
	static const char *const known[] = { "mean", NULL };

	if (!yaml_expect_keys(map, known))
		return FALSE;
	if (!yaml_find(map, "mean"))
		return refuse_missing(map, "mean");
	return yaml_get_number(map, "mean", 0, MAX_NUMBER, &variate->first);
}

static const char *const variate_names[] = {
	[VARIATE_CONSTANT] = "constant",
	[VARIATE_CHOICE] = "choice",
	[VARIATE_CDF] = "cdf",
	[VARIATE_UNIFORM] = "uniform",
	[VARIATE_EXPONENTIAL] = "exponential",
	[VARIATE_LOGNORMAL] = "lognormal",
	[VARIATE_PARETO] = "pareto",
};

static gboolean
read_variate_of_kind(const YamlNode *map, VariateKind kind, Variate *variate)
{
	const char *key = variate_names[kind];
	const YamlNode *node = yaml_find(map, key);

	variate->kind = kind;
	switch (kind) {
	case VARIATE_CONSTANT:
		return yaml_get_number(map, key, 0, MAX_NUMBER, &variate->first);
	case VARIATE_EXPONENTIAL:
		return read_mean(node, variate);
	case VARIATE_CHOICE:
	case VARIATE_CDF:
		return read_points(node, key, variate);
	case VARIATE_UNIFORM:
		return read_uniform(node, variate);
	case VARIATE_LOGNORMAL:
		return read_two(node, "median", "sigma", variate);
	case VARIATE_PARETO:
		return read_two(node, "least", "shape", variate);
	}
	g_assert_not_reached();
}

static gboolean
find_kind(const YamlNode *map, const char *key, VariateKind *ret_kind)
{
	guint n_found = 0;

	for (guint i = 0; i < G_N_ELEMENTS(variate_names); i++) {
		if (!yaml_find(map, variate_names[i]))
			continue;
		*ret_kind = (VariateKind)i;
		n_found++;
	}
	return n_found == 1 ||
	       refuse_part(map, key,
	                   "found no distribution, or several, wanted one of constant, choice, "
	                   "cdf, uniform, exponential, lognormal, pareto");
}

static gboolean
read_per(const YamlNode *map, DrawnFor *drawn_for)
{
	const char *per = NULL;

	if (!yaml_get_text(map, "per", &per))
		return FALSE;
	if (!per)
		return TRUE;
	*drawn_for = g_str_equal(per, "app") ? DRAWN_FOR_APP : DRAWN_FOR_JOB;
	return g_str_equal(per, "app") || g_str_equal(per, "job") ||
	       refuse_node(yaml_find(map, "per"), "per", "app or job");
}

/* What jobs of an app have in common is nothing where they are independent, or all the same. */
static gboolean
read_likeness(const YamlNode *map, Quantity *quantity)
{
	if (!yaml_get_number(map, "alike", 0, 1, &quantity->alike) ||
	    !yaml_get_number(map, "with_jobs", 0, 1, &quantity->with_jobs))
		return FALSE;
	if (quantity->alike > 0 && quantity->drawn_for == DRAWN_FOR_APP)
		return refuse_part(map, "alike",
		                   "found alike beside `per: app`, wanted one of them");
	return quantity->with_jobs == 0 || quantity->alike > 0 ||
	       refuse_part(map, "with_jobs", "found with_jobs without alike, wanted both");
}

static gboolean
read_scale(const YamlNode *map, Variate *variate)
{
	double scale = 1;

	if (!yaml_get_number(map, "scale", 1e-6, 1e6, &scale))
		return FALSE;
	variate_scale(variate, scale);
	return TRUE;
}

static gboolean
read_distribution(const YamlNode *map, const char *key, Quantity *quantity)
{
	static const char *const known[] = { "constant",    "choice",    "cdf",    "uniform",
		                             "exponential", "lognormal", "pareto", "min",
		                             "max",         "scale",     "per",    "alike",
		                             "with_jobs",   NULL };
	VariateKind kind = VARIATE_CONSTANT;

	return yaml_expect_keys(map, known) && find_kind(map, key, &kind) &&
	       read_variate_of_kind(map, kind, &quantity->variate) &&
	       yaml_get_number(map, "min", 0, MAX_NUMBER, &quantity->variate.least) &&
	       yaml_get_number(map, "max", quantity->variate.least, MAX_NUMBER,
	                       &quantity->variate.most) &&
	       read_scale(map, &quantity->variate) && read_per(map, &quantity->drawn_for) &&
	       read_likeness(map, quantity);
}

/* A number, or a mapping that names a distribution. */
static gboolean
read_quantity(const YamlNode *root, const char *key, Quantity *quantity)
{
	const YamlNode *node = yaml_find(root, key);

	if (!node)
		return TRUE;
	quantity->is_given = TRUE;
	if (yaml_kind(node) == YAML_MAP)
		return read_distribution(node, key, quantity);
	return node_to_number(node, &quantity->variate.first) ||
	       refuse_node(node, key,
	                   "a number from 0 to 1000000000, or a mapping such as {uniform: {from: "
	                   "1, to: 9}}");
}

/* Arrivals */

static gboolean
read_rate(const YamlNode *map, Arrivals *arrivals)
{
	double interarrival_s = 0, per_hour = 0;

	if (!yaml_get_number(map, "interarrival_s", 1e-6, MAX_NUMBER, &interarrival_s) ||
	    !yaml_get_number(map, "rate_per_h", 1e-6, MAX_NUMBER, &per_hour))
		return FALSE;
	if ((interarrival_s > 0) == (per_hour > 0))
		return refuse_part(
		    map, "arrivals",
		    "found no rate, or two, wanted one of interarrival_s and rate_per_h");
	arrivals->per_s = interarrival_s > 0 ? 1 / interarrival_s : per_hour / HOUR_S;
	return TRUE;
}

static gboolean
read_piece(const YamlNode *item, GArray *pieces)
{
	static const char *const known[] = { "from_s", "per_h", NULL };
	double per_hour = 0;
	RatePiece piece = { 0 };
	gboolean is_later;

	if (!yaml_expect_keys(item, known) ||
	    !yaml_get_number(item, "from_s", 0, MAX_NUMBER, &piece.from_s) ||
	    !yaml_get_number(item, "per_h", 0, MAX_NUMBER, &per_hour))
		return FALSE;
	piece.per_s = per_hour / HOUR_S;
	is_later = pieces->len == 0
	               ? piece.from_s == 0
	               : piece.from_s > g_array_index(pieces, RatePiece, pieces->len - 1).from_s;
	g_array_append_val(pieces, piece);
	return is_later ||
	       refuse_part(item, "rates",
	                   "found from_s out of order, wanted 0 first and then later ones");
}

/* Arrivals must go on for as long as there are apps to come. */
static gboolean
check_bursts(const YamlNode *map, const Arrivals *arrivals)
{
	const RatePiece *last =
	    &g_array_index(arrivals->pieces, RatePiece, arrivals->pieces->len - 1);
	double sum = 0;

	for (guint i = 0; i < arrivals->pieces->len; i++)
		sum += g_array_index(arrivals->pieces, RatePiece, i).per_s;
	if (sum <= 0)
		return refuse_part(map, "rates", "found no rate above 0, wanted one");
	if (arrivals->period_s == 0)
		return last->per_s > 0 ||
		       refuse_part(map, "rates",
		                   "found 0 as the last rate, wanted more, or a period_s");
	return arrivals->period_s > last->from_s ||
	       refuse_part(map, "period_s",
	                   "found a period_s that ends before the last rate begins, wanted more");
}

static gboolean
read_bursts(const YamlNode *map, Arrivals *arrivals)
{
	const YamlNode *rates = yaml_find(map, "rates");

	if (!rates || yaml_kind(rates) != YAML_LIST || yaml_n(rates) == 0)
		return refuse_part(
		    map, "arrivals",
		    "found no list of rates, wanted one such as [{from_s: 0, per_h: 6}, ...]");
	for (guint i = 0; i < yaml_n(rates); i++)
		if (!read_piece(yaml_item(rates, i), arrivals->pieces))
			return FALSE;
	return yaml_get_number(map, "period_s", 1e-3, MAX_NUMBER, &arrivals->period_s) &&
	       check_bursts(map, arrivals);
}

static gboolean
read_drawn(const YamlNode *map, Arrivals *arrivals)
{
	Quantity at_h = { .variate = arrivals->at_h };
	gboolean is_ok;

	if (!yaml_find(map, "at_h"))
		return refuse_missing(map, "at_h");
	is_ok = read_quantity(map, "at_h", &at_h);
	arrivals->at_h = at_h.variate;
	return is_ok;
}

static gboolean
read_process(const YamlNode *map, ArrivalProcess *ret_process)
{
	static const char *const names[] = {
		[ARRIVALS_AT_ONCE] = "at-once", [ARRIVALS_FIXED] = "fixed",
		[ARRIVALS_POISSON] = "poisson", [ARRIVALS_BURSTS] = "bursts",
		[ARRIVALS_DRAWN] = "drawn",
	};
	const char *name = "poisson";

	if (!yaml_get_text(map, "process", &name))
		return FALSE;
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		if (g_str_equal(name, names[i])) {
			*ret_process = (ArrivalProcess)i;
			return TRUE;
		}
	}
	return refuse_node(yaml_find(map, "process"), "process",
	                   "at-once, fixed, poisson, bursts or drawn");
}

static gboolean
read_arrivals(const YamlNode *root, Arrivals *arrivals)
{
	static const char *const known[] = { "process",  "interarrival_s", "rate_per_h", "rates",
		                             "period_s", "at_h",           "speedup",    NULL };
	const YamlNode *map = yaml_find(root, "arrivals");

	if (!map)
		return refuse_missing(root, "arrivals");
	if (!yaml_expect_keys(map, known) || !read_process(map, &arrivals->process) ||
	    !yaml_get_number(map, "speedup", 1e-3, 1e3, &arrivals->speedup))
		return FALSE;
	switch (arrivals->process) {
	case ARRIVALS_AT_ONCE:
		return TRUE;
	case ARRIVALS_FIXED:
	case ARRIVALS_POISSON:
		return read_rate(map, arrivals);
	case ARRIVALS_BURSTS:
		return read_bursts(map, arrivals);
	case ARRIVALS_DRAWN:
		return read_drawn(map, arrivals);
	}
	g_assert_not_reached();
}

/* A piece lasts until the next one or the end of the period. */
static double
piece_end_s(const Arrivals *arrivals, guint i)
{
	return i + 1 < arrivals->pieces->len
	           ? g_array_index(arrivals->pieces, RatePiece, i + 1).from_s
	           : arrivals->period_s;
}

double
arrivals_mean_per_s(const Arrivals *arrivals)
{
	double sum = 0;

	if (arrivals->process == ARRIVALS_AT_ONCE || arrivals->process == ARRIVALS_DRAWN)
		return 0;
	if (arrivals->process != ARRIVALS_BURSTS)
		return arrivals->per_s;
	if (arrivals->period_s == 0)
		return 0;
	for (guint i = 0; i < arrivals->pieces->len; i++) {
		const RatePiece *piece = &g_array_index(arrivals->pieces, RatePiece, i);

		sum += piece->per_s * (piece_end_s(arrivals, i) - piece->from_s);
	}
	return sum / arrivals->period_s;
}

/* Labels */

static void
start_mix(LabelMix *mix)
{
	mix->names = g_ptr_array_new_with_free_func(g_free);
	mix->choice.kind = VARIATE_CHOICE;
	mix->choice.points = g_array_new(FALSE, FALSE, sizeof(VariatePoint));
}

static void
add_name(LabelMix *mix, char *name, double weight)
{
	VariatePoint point = { mix->names->len, weight };

	g_ptr_array_add(mix->names, name);
	g_array_append_val(mix->choice.points, point);
}

/* `users: 20` is user1 to user20. */
static gboolean
read_label_count(const YamlNode *root, const char *key, LabelMix *mix)
{
	g_autofree char *singular = g_strndup(key, strlen(key) - 1);
	gint64 n = 0;

	if (!yaml_get_int(root, key, 1, 1000000, &n))
		return FALSE;
	for (gint64 i = 1; i <= n; i++)
		add_name(mix, g_strdup_printf("%s%" G_GINT64_FORMAT, singular, i), 1);
	return TRUE;
}

static gboolean
read_name_weights(const YamlNode *map, LabelMix *mix)
{
	for (guint i = 0; i < yaml_n(map); i++) {
		double weight = 0;

		if (!yaml_get_number(map, yaml_key(map, i), 0, MAX_NUMBER, &weight))
			return FALSE;
		add_name(mix, g_strdup(yaml_key(map, i)), weight);
	}
	return TRUE;
}

/* A class of names: they have @share of the weight between them, by their own weights. */
static gboolean
read_label_class(const YamlNode *map, LabelMix *mix)
{
	static const char *const known[] = { "share", "of", NULL };
	guint first = mix->choice.points->len;
	double share = 0, sum = 0;

	if (!yaml_expect_keys(map, known))
		return FALSE;
	for (guint i = 0; known[i]; i++)
		if (!yaml_find(map, known[i]))
			return refuse_missing(map, known[i]);
	if (yaml_kind(yaml_find(map, "of")) != YAML_MAP)
		return refuse_node(yaml_find(map, "of"), "of", "names with weights");
	if (!yaml_get_number(map, "share", 0, MAX_NUMBER, &share) ||
	    !read_name_weights(yaml_find(map, "of"), mix))
		return FALSE;
	for (guint i = first; i < mix->choice.points->len; i++)
		sum += g_array_index(mix->choice.points, VariatePoint, i).up_to;
	if (sum <= 0)
		return refuse_part(map, "of", "found no weight above 0, wanted one");
	for (guint i = first; i < mix->choice.points->len; i++)
		g_array_index(mix->choice.points, VariatePoint, i).up_to *= share / sum;
	return TRUE;
}

/* Names with weights, or classes of them: what an app gets is by the order of the file, so that
 * a larger share of the first class takes apps from the second alone. */
static gboolean
read_label_weights(const YamlNode *map, LabelMix *mix)
{
	if (yaml_n(map) == 0 || yaml_kind(yaml_item(map, 0)) != YAML_MAP)
		return read_name_weights(map, mix);
	for (guint i = 0; i < yaml_n(map); i++)
		if (!read_label_class(yaml_item(map, i), mix))
			return FALSE;
	return TRUE;
}

static gboolean
read_labels(const YamlNode *root, const char *key, LabelMix *mix)
{
	const YamlNode *node = yaml_find(root, key);
	gboolean is_ok;

	if (!node)
		return TRUE;
	start_mix(mix);
	is_ok = yaml_kind(node) == YAML_MAP ? read_label_weights(node, mix)
	                                    : read_label_count(root, key, mix);
	return is_ok && (accumulate_weights(mix->choice.points) ||
	                 refuse_part(node, key, "found no weight above 0, wanted one"));
}

/* Tuners */

/* @compares tells whether one of those read looks at losses. */
static gboolean
read_tuner(const YamlNode *node, const char *text, double weight, LabelMix *mix, gboolean *compares)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Tuner) tuner = tuner_parse(text, &error);

	if (!tuner)
		return refuse_part(node, "tuner", error->message);
	*compares |= tuner_compares(tuner);
	add_name(mix, g_strdup(text), weight);
	return TRUE;
}

static gboolean
read_tuner_weights(const YamlNode *map, LabelMix *mix, gboolean *compares)
{
	gboolean is_ok = TRUE;

	for (guint i = 0; i < yaml_n(map); i++) {
		double weight = 0;

		is_ok &= yaml_get_number(map, yaml_key(map, i), 0, MAX_NUMBER, &weight) &&
		         read_tuner(yaml_key_node(map, i), yaml_key(map, i), weight, mix, compares);
	}
	return is_ok && (accumulate_weights(mix->choice.points) ||
	                 refuse_part(map, "tuner", "found no weight above 0, wanted one"));
}

/* One text, or several with weights. */
static gboolean
read_tuners(const YamlNode *root, GenerateSpec *spec)
{
	const YamlNode *node = yaml_find(root, "tuner");
	gboolean compares = FALSE, is_ok;

	if (!node)
		return TRUE;
	if (yaml_kind(node) == YAML_LIST)
		return refuse_node(node, "tuner", "a tuner, or tuners with weights");
	start_mix(&spec->tuners);
	is_ok = yaml_kind(node) == YAML_MAP
	            ? read_tuner_weights(node, &spec->tuners, &compares)
	            : read_tuner(node, yaml_text(node), 1, &spec->tuners, &compares);
	return is_ok && (!compares || spec->has_losses ||
	                 refuse_part(node, "tuner",
	                             "found a tuner that compares losses, wanted loss: {start: .., "
	                             "end: .., half_frac: ..} beside it"));
}

static gboolean
read_losses(const YamlNode *root, GenerateSpec *spec)
{
	static const char *const known[] = { "start", "end", "half_frac", NULL };
	const YamlNode *map = yaml_find(root, "loss");

	if (!map)
		return TRUE;
	spec->has_losses = TRUE;
	if (!yaml_expect_keys(map, known))
		return FALSE;
	for (guint i = 0; known[i]; i++)
		if (!yaml_find(map, known[i]))
			return refuse_missing(map, known[i]);
	return read_quantity(map, "start", &spec->loss_start) &&
	       read_quantity(map, "end", &spec->loss_end) &&
	       read_quantity(map, "half_frac", &spec->loss_half_frac);
}

/* The whole */

/* The one of several keys that give a job's length, each with its unit. */
static gboolean
read_length(const YamlNode *root, GenerateSpec *spec)
{
	static const struct {
		const char *key;
		double unit_s;
		gboolean is_work;
	} keys[] = {
		{ "duration_s", 1, FALSE },    { "duration_min", 60, FALSE },
		{ "duration_h", 3600, FALSE }, { "work_gpu_s", 1, TRUE },
		{ "work_gpu_min", 60, TRUE },  { "work_gpu_h", 3600, TRUE },
	};

	for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (!yaml_find(root, keys[i].key))
			continue;
		if (spec->length.is_given)
			return refuse_part(root, keys[i].key,
			                   "found two keys for a job's length, wanted one");
		spec->length_unit_s = keys[i].unit_s;
		spec->length_is_work = keys[i].is_work;
		if (!read_quantity(root, keys[i].key, &spec->length))
			return FALSE;
	}
	return spec->length.is_given ||
	       refuse_part(root, "duration_s",
	                   "found no length of a job, wanted one of duration_s, duration_min, "
	                   "duration_h, work_gpu_s, work_gpu_min, work_gpu_h");
}

static gboolean
read_counts(const YamlNode *root, GenerateSpec *spec)
{
	gint64 n_apps = 0, n_jobs = 0;

	if (!yaml_get_int(root, "apps", 1, MAX_GENERATED_JOBS, &n_apps) ||
	    !yaml_get_int(root, "jobs", 1, MAX_GENERATED_JOBS, &n_jobs))
		return FALSE;
	spec->n_apps = (guint32)n_apps;
	spec->n_jobs = (guint32)n_jobs;
	return (n_apps > 0) != (n_jobs > 0) ||
	       refuse_part(root, "jobs",
	                   "found neither jobs nor apps, or both, wanted one of them");
}

static gboolean
read_clock(const YamlNode *root, GenerateSpec *spec)
{
	gint64 seed = 1;
	gboolean is_ok =
	    yaml_get_int(root, "seed", 0, G_MAXINT64, &seed) &&
	    yaml_get_scaled(root, "resolution_s", 3, 1, 86400000, &spec->resolution_ms) &&
	    yaml_get_scaled(root, "start_s", 3, 0, G_GINT64_CONSTANT(4000000000000),
	                    &spec->start_ms);

	spec->seed = (guint64)seed;
	return is_ok;
}

/* Apps can only divide a distribution among them if their number is known. */
static gboolean
read_draws(const YamlNode *root, GenerateSpec *spec)
{
	const char *draws = "independent";

	if (!yaml_get_text(root, "draws", &draws))
		return FALSE;
	spec->is_even = g_str_equal(draws, "even");
	if (!spec->is_even && !g_str_equal(draws, "independent"))
		return refuse_node(yaml_find(root, "draws"), "draws", "even or independent");
	return !spec->is_even || spec->n_apps > 0 ||
	       refuse_part(root, "draws", "found even draws without a number of apps, wanted one");
}

/* The score of a number of jobs is that of the draw it comes from, which a normal draw has not. */
static gboolean
check_likeness(const YamlNode *root, const GenerateSpec *spec)
{
	const Quantity *const quantities[] = { &spec->num_gpus,  &spec->min_gpus,
		                               &spec->max_gpus,  &spec->length,
		                               &spec->job_gap_s, &spec->loss_start,
		                               &spec->loss_end,  &spec->loss_half_frac };

	for (guint i = 0; i < G_N_ELEMENTS(quantities); i++)
		if (quantities[i]->with_jobs > 0 && !spec->is_even &&
		    spec->jobs_per_app.variate.kind == VARIATE_LOGNORMAL)
			return refuse_part(
			    root, "with_jobs",
			    "found with_jobs where jobs_per_app is lognormal, wanted "
			    "`draws: even`, or another distribution");
	return TRUE;
}

/* A file beside the spec, or a shorthand. */
static gboolean
count_cluster_gpus(const YamlNode *map, const char *spec_path, guint32 *ret_gpus)
{
	const char *given = NULL;
	g_autofree char *beside = NULL;
	g_autoptr(ClusterSpec) cluster = NULL;
	g_autoptr(GError) error = NULL;

	if (!yaml_get_text(map, "cluster", &given))
		return FALSE;
	beside = path_beside(spec_path, given);
	cluster =
	    cluster_spec_load(g_file_test(beside, G_FILE_TEST_EXISTS) ? beside : given, &error);
	if (!cluster) {
		yaml_complain(yaml_find(map, "cluster"), "bad cluster", "%s", error->message);
		return FALSE;
	}
	*ret_gpus = cluster->n_gpus;
	return TRUE;
}

static gboolean
read_load(const YamlNode *root, const char *spec_path, GenerateSpec *spec)
{
	static const char *const known[] = { "target", "gpus", "cluster", NULL };
	const YamlNode *map = yaml_find(root, "load");
	gint64 n_gpus = 0;

	if (!map)
		return TRUE;
	if (!yaml_expect_keys(map, known) ||
	    !yaml_get_number(map, "target", 1e-6, 1000, &spec->load) ||
	    !yaml_get_int(map, "gpus", 1, 1 << 24, &n_gpus))
		return FALSE;
	spec->load_gpus = (guint32)n_gpus;
	if (spec->load == 0 || !yaml_find(map, "gpus") == !yaml_find(map, "cluster"))
		return refuse_part(map, "load",
		                   "found something else, wanted a target, and gpus or a cluster");
	if (arrivals_mean_per_s(&spec->arrivals) == 0)
		return refuse_part(
		    map, "load",
		    "found arrivals without a mean rate, wanted a rate, or bursts with a period_s");
	return n_gpus > 0 || count_cluster_gpus(map, spec_path, &spec->load_gpus);
}

static gboolean
read_all_labels(const YamlNode *root, GenerateSpec *spec)
{
	static const char *const keys[] = {
		[GENERATED_USER] = "users",         [GENERATED_TENANT] = "tenants",
		[GENERATED_GROUP] = "groups",       [GENERATED_MODEL] = "models",
		[GENERATED_GPU_TYPE] = "gpu_types",
	};
	gboolean is_ok = TRUE;

	for (guint i = 0; i < N_GENERATED_LABELS; i++)
		is_ok &= read_labels(root, keys[i], &spec->labels[i]);
	return is_ok;
}

/* Every part is read, whatever became of the others, so that all complaints come at once. */
static void
read_spec(const YamlNode *root, const char *path, GenerateSpec *spec)
{
	static const char *const known[] = { "seed",         "apps",         "jobs",
		                             "start_s",      "resolution_s", "arrivals",
		                             "jobs_per_app", "job_gap_s",    "num_gpus",
		                             "min_gpus",     "max_gpus",     "duration_s",
		                             "duration_min", "duration_h",   "work_gpu_s",
		                             "work_gpu_min", "work_gpu_h",   "users",
		                             "tenants",      "groups",       "models",
		                             "gpu_types",    "load",         "draws",
		                             "tuner",        "loss",         NULL };
	gboolean has_arrivals;

	if (!yaml_expect_keys(root, known) && yaml_kind(root) != YAML_MAP)
		return;
	read_counts(root, spec);
	read_clock(root, spec);
	read_draws(root, spec);
	has_arrivals = read_arrivals(root, &spec->arrivals);
	read_quantity(root, "jobs_per_app", &spec->jobs_per_app);
	read_quantity(root, "job_gap_s", &spec->job_gap_s);
	read_quantity(root, "num_gpus", &spec->num_gpus);
	read_quantity(root, "min_gpus", &spec->min_gpus);
	read_quantity(root, "max_gpus", &spec->max_gpus);
	read_length(root, spec);
	read_losses(root, spec);
	check_likeness(root, spec);
	read_all_labels(root, spec);
	read_tuners(root, spec);
	if (has_arrivals)
		read_load(root, path, spec);
}

static GenerateSpec *
generate_spec_new(void)
{
	GenerateSpec *spec = g_new0(GenerateSpec, 1);

	spec->resolution_ms = 1;
	spec->arrivals.speedup = 1;
	spec->arrivals.at_h = variate_constant(0);
	spec->arrivals.pieces = g_array_new(FALSE, FALSE, sizeof(RatePiece));
	spec->jobs_per_app.variate = variate_constant(1);
	spec->job_gap_s.variate = variate_constant(0);
	spec->num_gpus.variate = variate_constant(1);
	spec->min_gpus.variate = variate_constant(0);
	spec->max_gpus.variate = variate_constant(0);
	spec->length.variate = variate_constant(0);
	spec->tuners.choice = variate_constant(0);
	spec->loss_start.variate = variate_constant(0);
	spec->loss_end.variate = variate_constant(0);
	spec->loss_half_frac.variate = variate_constant(0);
	for (guint i = 0; i < N_GENERATED_LABELS; i++)
		spec->labels[i].choice = variate_constant(0);
	return spec;
}

static gboolean
replace_values(YamlDocument *document, const char *const *sets, GError **error)
{
	for (guint i = 0; sets && sets[i]; i++) {
		g_auto(GStrv) parts = g_strsplit(sets[i], "=", 2);

		if (g_strv_length(parts) == 2 && yaml_replace(document, parts[0], parts[1]))
			continue;
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "found \"%s\" to set, wanted KEY=VALUE with the key of a value in the "
		            "spec, as arrivals.process=poisson",
		            sets[i]);
		return FALSE;
	}
	return TRUE;
}

GenerateSpec *
generate_spec_read(const char *path, const char *const *sets, GError **error)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(YamlDocument) document = yaml_read(path, problems, error);
	g_autoptr(GenerateSpec) spec = generate_spec_new();

	if (!document || !replace_values(document, sets, error))
		return NULL;
	read_spec(yaml_root(document), path, spec);
	if (problems->n_bad > 0) {
		problems_to_error(problems, error);
		return NULL;
	}
	return g_steal_pointer(&spec);
}

void
generate_spec_free(GenerateSpec *spec)
{
	if (!spec)
		return;
	g_array_unref(spec->arrivals.pieces);
	variate_clear(&spec->arrivals.at_h);
	variate_clear(&spec->jobs_per_app.variate);
	variate_clear(&spec->job_gap_s.variate);
	variate_clear(&spec->num_gpus.variate);
	variate_clear(&spec->min_gpus.variate);
	variate_clear(&spec->max_gpus.variate);
	variate_clear(&spec->length.variate);
	variate_clear(&spec->tuners.choice);
	g_clear_pointer(&spec->tuners.names, g_ptr_array_unref);
	variate_clear(&spec->loss_start.variate);
	variate_clear(&spec->loss_end.variate);
	variate_clear(&spec->loss_half_frac.variate);
	for (guint i = 0; i < N_GENERATED_LABELS; i++) {
		g_clear_pointer(&spec->labels[i].names, g_ptr_array_unref);
		variate_clear(&spec->labels[i].choice);
	}
	g_free(spec);
}
