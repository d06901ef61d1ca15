/* SPDX-License-Identifier: MIT */
#include "sim/report/received_csv.h"

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/distribution.h"
#include "sim/report/exact.h"
#include "sim/report/metrics.h"

static const char *const columns[] = {
	"time_s",         "scope",         "parties",    "ratio_min",
	"ratio_p50",      "ratio_mean",    "jain_ratio", "received_gpu_s",
	"entitled_gpu_s", "deficit_gpu_s", NULL,
};

/* Time at some numbers of parties, and the same over that number. */
typedef struct ShareTime {
	double ns, ns_per_party;
	guint64 window; /* that it was spent in: what is older counts as 0 */
} ShareTime;

/* Who shares the cluster: an app, or a user. */
typedef struct Party {
	guint32 n_jobs; /* GPU jobs submitted and not done */
	gboolean is_in_window;
	guint64 demand_milli, held_milli;
	SimTime since_ns;          /* up to then it is accounted for */
	double share_then;         /* equal_share() then */
	double received, entitled; /* of this window up to then, milli x ns */
} Party;

typedef struct Book {
	const char *scope;
	guint32 *party_of; /* by AppId */
	guint n_parties;
	Party *parties;
	GArray *in_window; /* of guint32: parties that were there in this window */
	guint n_active;
	guint size;       /* of the tree, from 1 */
	ShareTime *tree;  /* Fenwick tree over the number of parties that are there */
	double per_party; /* integral of 1 / that number, over this window */
	double *ratios;   /* room for one each */
} Book;

struct ReceivedLog {
	const Scenario *scenario;
	OutputFile *file;
	SimTime window_ns, now_ns;
	guint64 window; /* its number, from 1 */
	JobId next_arrival;
	GArray *done; /* of JobId: at the instant that comes next */
	Book books[2];
	guint n_books;
	gint *is_cancelled; /* atomic, or NULL */
	GError *error;      /* the first write that failed, or that it was cancelled */
};

/* Books */

/* The fewest GPUs that make a party's demand; 0 if there is none. */
static guint64
least_demand_milli(const Workload *workload)
{
	guint64 least_milli = G_MAXUINT64;

	for (JobId i = 0; i < workload->n_jobs; i++) {
		const Job *job = &workload->jobs[i];

		if (job->num_gpus > 0)
			least_milli = MIN(least_milli, job_held_milli(job, job->max_gpus));
	}
	return least_milli;
}

static guint64
capacity_milli(const ReceivedLog *log)
{
	return (guint64)log->scenario->cluster->n_gpus * GPU_MILLI;
}

static void
book_init(Book *book, const ReceivedLog *log, const char *scope, guint n_parties)
{
	guint64 beyond = capacity_milli(log) / least_demand_milli(log->scenario->workload);

	*book = (Book){
		.scope = scope,
		.party_of = g_new(guint32, log->scenario->workload->n_apps),
		.n_parties = n_parties,
		.parties = g_new0(Party, n_parties),
		.in_window = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.size = (guint)MIN(beyond, n_parties),
		.ratios = g_new(double, n_parties),
	};
	book->tree = g_new0(ShareTime, book->size + 1);
}

static void
book_clear(Book *book)
{
	g_free(book->party_of);
	g_free(book->parties);
	g_array_unref(book->in_window);
	g_free(book->tree);
	g_free(book->ratios);
}

/* So long as many parties were there as there are now. */
static void
book_pass(Book *book, guint64 window, double length_ns)
{
	double per_party = length_ns / book->n_active;

	if (book->n_active == 0)
		return;
	book->per_party += per_party;
	for (guint i = book->n_active; i <= book->size; i += i & -i) {
		ShareTime *node = &book->tree[i];

		if (node->window != window)
			*node = (ShareTime){ .window = window };
		node->ns += length_ns;
		node->ns_per_party += per_party;
	}
}

/* The integral over this window, up to now, of min(GPUs / n(t), demand), milli x ns. */
static double
equal_share(const ReceivedLog *log, const Book *book, guint64 demand_milli)
{
	ShareTime few = { 0 };
	guint64 most;

	if (demand_milli == 0)
		return 0;
	most = capacity_milli(log) / demand_milli;
	for (guint i = (guint)MIN(most, book->size); i > 0; i -= i & -i) {
		if (book->tree[i].window != log->window)
			continue;
		few.ns += book->tree[i].ns;
		few.ns_per_party += book->tree[i].ns_per_party;
	}
	return few.ns * (double)demand_milli +
	       (book->per_party - few.ns_per_party) * (double)capacity_milli(log);
}

/* Accounts for what the party received and was entitled to up to now. */
static void
settle(const ReceivedLog *log, const Book *book, Party *party)
{
	double share = equal_share(log, book, party->demand_milli);

	party->received += (double)party->held_milli * (double)(log->now_ns - party->since_ns);
	party->entitled += share - party->share_then;
	party->share_then = share;
	party->since_ns = log->now_ns;
}

/* The party of the job's app, settled, to be changed. */
static Party *
touch(const ReceivedLog *log, Book *book, const Job *job)
{
	guint32 id = book->party_of[job->app];
	Party *party = &book->parties[id];

	if (!party->is_in_window) {
		*party = (Party){ .is_in_window = TRUE, .since_ns = log->now_ns };
		g_array_append_val(book->in_window, id);
	}
	settle(log, book, party);
	return party;
}

static void
change_demand(const ReceivedLog *log, Book *book, const Job *job, guint64 from_milli,
              guint64 to_milli)
{
	Party *party = touch(log, book, job);

	party->demand_milli += to_milli;
	party->demand_milli -= from_milli;
	party->share_then = equal_share(log, book, party->demand_milli);
}

static void
enter(const ReceivedLog *log, Book *book, const Job *job)
{
	if (touch(log, book, job)->n_jobs++ == 0)
		book->n_active++;
}

static void
leave(const ReceivedLog *log, Book *book, const Job *job)
{
	if (--touch(log, book, job)->n_jobs == 0)
		book->n_active--;
}

/* Windows */

/* Of the parties that were entitled to something. */
typedef struct WindowSums {
	guint n;
	NumberSum received, entitled, deficit;
} WindowSums;

static void
add_party(Book *book, WindowSums *sums, const Party *party)
{
	if (party->entitled <= 0)
		return;
	book->ratios[sums->n++] = party->received / party->entitled;
	number_sum_add(&sums->received, party->received);
	number_sum_add(&sums->entitled, party->entitled);
	if (party->received < party->entitled * (1 - 1e-9)) /* as in A24 */
		number_sum_add(&sums->deficit, party->entitled - party->received);
}

static void
append_row(ReceivedLog *log, const Book *book, const WindowSums *sums)
{
	GString *out = output_file_text(log->file);
	SimTime from_ns = (SimTime)(log->window - 1) * log->window_ns;
	Distribution ratios;

	numbers_sort(book->ratios, sums->n);
	ratios = distribution_of(book->ratios, sums->n);
	cell_clock(out, log->scenario->workload->origin_ns, from_ns);
	cell_text(out, book->scope);
	cell_count(out, sums->n);
	cell_number(out, ratios.min);
	cell_number(out, ratios.p50);
	cell_number(out, ratios.mean);
	if (ratios.mean > 0)
		cell_number(out, ratios.jain);
	else
		cell_empty(out);
	cell_number(out, number_sum_total(&sums->received) / (double)GPU_TIME_PER_GPU_S);
	cell_number(out, number_sum_total(&sums->entitled) / (double)GPU_TIME_PER_GPU_S);
	cell_number(out, number_sum_total(&sums->deficit) / (double)GPU_TIME_PER_GPU_S);
	row_end(out);
	output_file_flush(log->file, &log->error);
}

static void
close_book(ReceivedLog *log, Book *book)
{
	WindowSums sums = { 0 };
	guint n_kept = 0;

	for (guint i = 0; i < book->in_window->len; i++) {
		guint32 id = g_array_index(book->in_window, guint32, i);
		Party *party = &book->parties[id];

		settle(log, book, party);
		add_party(book, &sums, party);
		party->received = party->entitled = party->share_then = 0;
		party->is_in_window =
		    party->n_jobs > 0 || party->held_milli > 0 || party->demand_milli > 0;
		if (party->is_in_window)
			g_array_index(book->in_window, guint32, n_kept++) = id;
	}
	g_array_set_size(book->in_window, n_kept);
	book->per_party = 0;
	if (sums.n > 0 && !log->error)
		append_row(log, book, &sums);
}

static void
close_window(ReceivedLog *log)
{
	for (guint i = 0; i < log->n_books; i++)
		close_book(log, &log->books[i]);
	log->window++;
}

static void
pass(ReceivedLog *log, SimTime to_ns)
{
	for (guint i = 0; i < log->n_books && to_ns > log->now_ns; i++)
		book_pass(&log->books[i], log->window, (double)(to_ns - log->now_ns));
	log->now_ns = to_ns;
}

static SimTime
window_end_ns(const ReceivedLog *log)
{
	return time_add((SimTime)(log->window - 1) * log->window_ns, log->window_ns);
}

static gboolean
is_cancelled(ReceivedLog *log)
{
	if (log->error)
		return TRUE;
	if (!log->is_cancelled || !g_atomic_int_get(log->is_cancelled))
		return FALSE;
	g_set_error(&log->error, SIM_ERROR, SIM_ERROR_CANCELLED, "interrupted");
	return TRUE;
}

/* Nobody is there until @to_ns, so that there is nothing to say of any window in between. */
static gboolean
is_deserted(const ReceivedLog *log)
{
	return log->n_books == 0 || log->books[0].in_window->len == 0;
}

static void
advance(ReceivedLog *log, SimTime to_ns)
{
	while (window_end_ns(log) <= to_ns && !is_deserted(log) && !is_cancelled(log)) {
		pass(log, window_end_ns(log));
		close_window(log);
	}
	if (window_end_ns(log) <= to_ns)
		log->window = (guint64)(to_ns / log->window_ns) + 1;
	pass(log, to_ns);
}

/* The log */

/* Users are numbered as they come; FALSE if the trace names none. */
static gboolean
number_users(const Workload *workload, guint32 *ret_user_of, guint *ret_n)
{
	g_autoptr(GHashTable) number_of = g_hash_table_new(g_str_hash, g_str_equal);
	gboolean has_names = FALSE;

	for (AppId i = 0; i < workload->n_apps; i++) {
		const char *user = app_first_job(workload, &workload->apps[i])->user;
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(number_of, user));

		if (number == 0) {
			number = g_hash_table_size(number_of) + 1;
			g_hash_table_insert(number_of, (gpointer)(guintptr)user,
			                    GUINT_TO_POINTER(number));
		}
		ret_user_of[i] = number - 1;
		has_names |= user[0] != '\0';
	}
	*ret_n = g_hash_table_size(number_of);
	return has_names;
}

static void
open_books(ReceivedLog *log)
{
	const Workload *workload = log->scenario->workload;
	g_autofree guint32 *user_of = g_new(guint32, workload->n_apps);
	guint n_users;

	if (workload->n_apps == 0)
		return;
	book_init(&log->books[log->n_books++], log, "app", workload->n_apps);
	for (AppId i = 0; i < workload->n_apps; i++)
		log->books[0].party_of[i] = i;
	if (!number_users(workload, user_of, &n_users))
		return;
	book_init(&log->books[log->n_books++], log, "user", n_users);
	for (AppId i = 0; i < workload->n_apps; i++)
		log->books[1].party_of[i] = user_of[i];
}

ReceivedLog *
received_log_open(const char *path, const Scenario *scenario, SimTime window_ns, gint *is_cancelled,
                  GError **error)
{
	OutputFile *file = output_file_open(path, error);
	ReceivedLog *log;

	if (!file)
		return NULL;
	log = g_new0(ReceivedLog, 1);
	log->scenario = scenario;
	log->file = file;
	log->window_ns = window_ns;
	log->window = 1;
	log->done = g_array_new(FALSE, FALSE, sizeof(JobId));
	log->is_cancelled = is_cancelled;
	open_books(log);
	header_append(output_file_text(file), columns);
	return log;
}

static const Job *
job_of(const ReceivedLog *log, JobId id)
{
	return &log->scenario->workload->jobs[id];
}

void
received_log_demand(ReceivedLog *log, JobId job, SimTime at_ns, guint64 from_milli,
                    guint64 to_milli)
{
	advance(log, at_ns);
	for (guint i = 0; i < log->n_books; i++)
		change_demand(log, &log->books[i], job_of(log, job), from_milli, to_milli);
}

void
received_log_begin(ReceivedLog *log, JobId job, SimTime at_ns, guint64 held_milli)
{
	if (held_milli == 0)
		return;
	advance(log, at_ns);
	for (guint i = 0; i < log->n_books; i++)
		touch(log, &log->books[i], job_of(log, job))->held_milli += held_milli;
}

void
received_log_end(ReceivedLog *log, const Segment *segment)
{
	const Job *job = job_of(log, segment->job);

	if (segment->alloc->n == 0)
		return;
	advance(log, segment->end_ns);
	for (guint i = 0; i < log->n_books; i++)
		touch(log, &log->books[i], job)->held_milli -=
		    job_held_milli(job, segment->alloc->n);
}

void
received_log_done(ReceivedLog *log, JobId job)
{
	g_array_append_val(log->done, job);
}

void
received_log_instant(ReceivedLog *log, SimTime at_ns)
{
	const Workload *workload = log->scenario->workload;

	advance(log, at_ns);
	for (; log->next_arrival < workload->n_jobs &&
	       workload->jobs[log->next_arrival].submit_ns <= at_ns;
	     log->next_arrival++) {
		const Job *job = job_of(log, log->next_arrival);

		for (guint i = 0; i < log->n_books && job->num_gpus > 0; i++)
			enter(log, &log->books[i], job);
	}
	/* Those that the end of the run spared their submit were never there. */
	for (guint k = 0; k < log->done->len; k++) {
		const Job *job = job_of(log, g_array_index(log->done, JobId, k));

		for (guint i = 0; i < log->n_books && job->num_gpus > 0; i++)
			if (job->id < log->next_arrival)
				leave(log, &log->books[i], job);
	}
	g_array_set_size(log->done, 0);
}

gboolean
received_log_commit(ReceivedLog *log, SimTime end_ns, GError **error)
{
	advance(log, MAX(end_ns, log->now_ns));
	close_window(log);
	if (log->error) {
		g_propagate_error(error, g_steal_pointer(&log->error));
		return FALSE;
	}
	return output_file_commit(g_steal_pointer(&log->file), error);
}

void
received_log_free(ReceivedLog *log)
{
	if (!log)
		return;
	for (guint i = 0; i < log->n_books; i++)
		book_clear(&log->books[i]);
	output_file_free(log->file);
	g_array_unref(log->done);
	g_clear_error(&log->error);
	g_free(log);
}
