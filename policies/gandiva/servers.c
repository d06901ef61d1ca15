/* SPDX-License-Identifier: MIT */
#include "policies/gandiva/servers.h"

static void
put_in_set(Servers *servers, guint32 machine, guint affinity, gboolean is_in)
{
	guint64 *word = servers->sets + (gsize)affinity * servers->n_words + machine / 64;
	guint64 bit = G_GUINT64_CONSTANT(1) << (machine % 64);

	if (affinity > servers->spec->max_machine_gpus)
		return;
	*word = is_in ? *word | bit : *word & ~bit;
}

void
gandiva_servers_init(Servers *servers, const ClusterSpec *spec)
{
	servers->spec = spec;
	servers->servers = g_new0(Server, spec->n_machines);
	servers->n_words = (spec->n_machines + 63) / 64;
	servers->sets = g_new0(guint64, (gsize)(spec->max_machine_gpus + 1) * servers->n_words);
	for (guint i = 0; i < spec->n_machines; i++)
		put_in_set(servers, i, 0, TRUE);
}

void
gandiva_servers_clear(Servers *servers)
{
	g_free(servers->servers);
	g_free(servers->sets);
}

static void
set_affinity(Servers *servers, guint32 machine, guint affinity)
{
	put_in_set(servers, machine, servers->servers[machine].affinity, FALSE);
	put_in_set(servers, machine, affinity, TRUE);
	servers->servers[machine].affinity = affinity;
}

/* How many GPUs of @gpus from @index on are in the same machine. */
static guint
run_length(const ClusterSpec *spec, const Alloc *gpus, guint index)
{
	guint32 machine = spec->machine_of[gpus->gpus[index]];
	guint n = 1;

	while (index + n < gpus->n && spec->machine_of[gpus->gpus[index + n]] == machine)
		n++;
	return n;
}

void
gandiva_servers_add(Servers *servers, const Job *job, guint width, const Alloc *gpus)
{
	guint n;

	for (guint i = 0; i < gpus->n; i += n) {
		guint32 machine = servers->spec->machine_of[gpus->gpus[i]];
		Server *server = &servers->servers[machine];

		n = run_length(servers->spec, gpus, i);
		if (server->n_jobs++ == 0)
			set_affinity(servers, machine, width);
		/* A job that has grown asks for no more than before. */
		server->demand_milli += job_held_milli(job, MIN(n, width));
	}
}

void
gandiva_servers_remove(Servers *servers, const Job *job, guint width, const Alloc *gpus)
{
	guint n;

	for (guint i = 0; i < gpus->n; i += n) {
		guint32 machine = servers->spec->machine_of[gpus->gpus[i]];
		Server *server = &servers->servers[machine];

		n = run_length(servers->spec, gpus, i);
		g_assert(server->n_jobs > 0);
		server->demand_milli -= job_held_milli(job, MIN(n, width));
		if (--server->n_jobs == 0)
			set_affinity(servers, machine, 0);
	}
}

guint32
gandiva_servers_next(const Servers *servers, guint affinity, guint32 from)
{
	const guint64 *words = servers->sets + (gsize)affinity * servers->n_words;
	guint32 end = servers->spec->n_machines;
	guint64 word;

	if (affinity > servers->spec->max_machine_gpus || from >= end)
		return end;
	word = words[from / 64] & (G_MAXUINT64 << (from % 64));
	for (guint i = from / 64;; word = words[i]) {
		if (word != 0)
			return i * 64 + (guint32)__builtin_ctzll(word);
		if (++i == servers->n_words)
			return end;
	}
}

gboolean
gandiva_servers_is_less(const Servers *servers, guint32 one, guint32 other)
{
	guint64 load_of_one =
	    servers->servers[one].demand_milli * servers->spec->machines[other].n_gpus;
	guint64 load_of_other =
	    servers->servers[other].demand_milli * servers->spec->machines[one].n_gpus;

	return load_of_one < load_of_other;
}
