/* Starting the EAL: its command line is made from the configuration, so that nobody has to know it.
 *
 * --in-memory: no file is created, neither hugepage nor configuration, so instances run side by
 * side and a kill leaves nothing. One file prefix for all instances is deliberate: only DPDK's
 * telemetry socket lives under it, which takes the next free name of a dead or living instance by
 * itself; a prefix per process would leave a directory behind with every kill.
 *
 * Devices are not on this command line (except that PCI ones are allowed to be scanned): they are
 * plugged one by one, so that a failure can name its port. Without hugepages EAL memory is a plain
 * mapping of a size given at start, touched as used.
 *
 * Rejected: hugepages always (the first run must need neither root nor set-up); pinning the control
 * thread (it would share a core with a worker that polls all the time). */
#define _GNU_SOURCE
#include "port.h"
#include "port_use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "../base/require.h"
#include "device.h"
#include "dpdk_compat.h"
#include "eal_log.h"
#include "memory.h"
#include "port_pool.h"

/* Files that may be open at once, amply. */
#define FILES_EAL   32
#define FILES_LCORE 4 /* two pipes to each worker's thread */
#define FILES_PORT  4
#define FILES_QUEUE 4

#define EAL_SLACK_MIB 192 /* rings, ethdev queues, PMD tables: address space, touched as used */

/* Kept until eal_stop(): the EAL may point into them. */
static struct {
	char **value;
	unsigned count;
} args;

__attribute__((format(printf, 1, 2))) static void args_add(const char *format, ...)
{
	va_list list;

	args.value = realloc(args.value, (args.count + 2) * sizeof(*args.value));
	require(args.value);
	va_start(list, format);
	require(vasprintf(&args.value[args.count++], format, list) >= 0);
	va_end(list);
	args.value[args.count] = NULL;
}

static void args_free(void)
{
	for (unsigned i = 0; i < args.count; i++)
		free(args.value[i]);
	free(args.value);
	args.value = NULL;
	args.count = 0;
}

/* The number of cores of the configuration below `core`, each counted once. */
static unsigned cores_below(const struct config *config, unsigned core)
{
	unsigned below = 0;
	cpu_set_t *seen = CPU_ALLOC(UINT16_MAX + 1);
	size_t size = CPU_ALLOC_SIZE(UINT16_MAX + 1);

	require(seen);
	CPU_ZERO_S(size, seen);
	for (unsigned p = 0; p < config->ports; p++)
		for (unsigned i = 0; i < config->port[p].cores; i++) {
			uint16_t c = config->port[p].core[i];

			below += c < core && !CPU_ISSET_S(c, size, seen);
			CPU_SET_S(c, size, seen);
		}
	CPU_FREE(seen);
	return below;
}

unsigned eal_lcore(const struct config *config, uint16_t core)
{
	return 1 + cores_below(config, core);
}

static bool core_configured(const struct config *config, unsigned core)
{
	return cores_below(config, core + 1) > cores_below(config, core);
}

/* "0@(0-3),1@2,2@3": lcore 0, the control thread, floats over all cores of the process. */
static int args_add_lcores(const struct config *config, struct err *err)
{
	char *text = NULL;
	const char *comma = "";
	size_t length = 0;
	cpu_set_t allowed;
	FILE *out;

	if (cores_below(config, UINT16_MAX + 1) + 1 > RTE_MAX_LCORE)
		return err_set(err, EXIT_ENVIRONMENT,
			       "%u cores are listed, but this DPDK is built for %u workers at most",
			       cores_below(config, UINT16_MAX + 1), RTE_MAX_LCORE - 1);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return err_set(err, EXIT_ENVIRONMENT, "sched_getaffinity: %s", strerror(errno));
	out = open_memstream(&text, &length);
	require(out);
	fputs("0@(", out);
	for (unsigned core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &allowed)) {
			fprintf(out, "%s%u", comma, core);
			comma = ",";
		}
	fputc(')', out);
	for (unsigned core = 0; core <= UINT16_MAX; core++) {
		if (!core_configured(config, core))
			continue;
		if (core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed)) {
			fclose(out);
			free(text);
			return err_set(
				err, EXIT_ENVIRONMENT,
				"this process may not run on core %u: its affinity (taskset, "
				"cgroup) does not include it",
				core);
		}
		fprintf(out, ",%u@%u", eal_lcore(config, (uint16_t)core), core);
	}
	fclose(out);
	args_add("--lcores=%s", text);
	free(text);
	return 0;
}

/* PCI devices are probed by the EAL itself, when they are on this list. */
static int args_add_pci(const struct config *config, bool *pci, struct err *err)
{
	*pci = false;
	for (unsigned i = 0; i < config->ports; i++) {
		const struct config_port *port = &config->port[i];

		for (unsigned n = 0; !port->is_network && n < device_parts(port); n++) {
			struct device device = device_part(port, n);

			if (device.kind != DEVICE_PCI)
				continue;
			if (device_pci_check(&device, err))
				return err_prefix(err, "port %s: %s: ", port->name, device.name);
			args_add("--allow=%s", device.name);
			*pci = true;
		}
	}
	if (!*pci) {
		args_add("--no-pci");
		args_add("--iova-mode=va");
	}
	return 0;
}

static uint64_t bytes_needed(const struct config *config)
{
	uint64_t bytes = (uint64_t)EAL_SLACK_MIB << 20;

	for (unsigned i = 0; i < config->ports; i++)
		if (!config->port[i].is_network)
			bytes += port_pool_bytes(&config->port[i]) * config->port[i].cores;
	return bytes;
}

/* Hugepages if there are enough and they can be had - DPDK would end with an error, and cannot be
 * started twice; else, unless they are demanded, plain pages. */
static int args_add_memory(const struct config *config, bool pci, struct err *err)
{
	uint64_t need_mib = bytes_needed(config) >> 20;
	uint64_t free_mib = (memory_hugepages_free(1ull << 30, -1) << 10) +
			    (memory_hugepages_free(2ull << 20, -1) << 1);

	if (config->hugepages != HUGEPAGES_OFF && free_mib >= need_mib &&
	    (config->hugepages == HUGEPAGES_ON || pci || memory_hugepages_work())) {
		args_add("--in-memory");
		args_add("--single-file-segments");
		return 0;
	}
	if (config->hugepages == HUGEPAGES_ON || (pci && config->hugepages == HUGEPAGES_AUTO))
		return err_set(err, EXIT_ENVIRONMENT,
			       "%s %" PRIu64 " MiB of hugepages and %" PRIu64
			       " MiB are free: reserve them as root with "
			       "`sysctl vm.nr_hugepages=%" PRIu64 "`%s",
			       pci ? "PCI devices need"
				   : "memory.hugepages is true: the ports need",
			       need_mib, free_mib, need_mib / 2 + 1,
			       pci ? "" : ", or set memory.hugepages to \"auto\"");
	args_add("--no-huge");
	args_add("--no-shconf");
	args_add("-m");
	args_add("%" PRIu64, 2 * need_mib); /* address space: what alignment wastes has room */
	return 0;
}

/* Telemetry needs a directory for its socket; who cannot have one (no home, /tmp of another user)
 * runs without. */
static void args_add_telemetry(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[256];

	args_add("--file-prefix=onager");
	if (!geteuid())
		return;
	if (!runtime || access(runtime, W_OK)) {
		snprintf(path, sizeof(path), "/tmp/onager-%u", geteuid());
		mkdir(path, 0700);
		setenv("XDG_RUNTIME_DIR", path, 1);
		runtime = path;
	}
	if (access(runtime, W_OK))
		args_add("--no-telemetry");
}

static bool args_add_user(const struct config *config)
{
	bool log_level = false;

	for (unsigned i = 0; i < config->eal_args; i++)
		log_level = log_level || strstr(config->eal[i], "log-level");
	if (!log_level)
		args_add("--log-level=warning");
	for (unsigned i = 0; i < config->eal_args; i++)
		args_add("%s", config->eal[i]);
	return log_level;
}

static unsigned files_open(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!directory)
		return STDERR_FILENO + 1;
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* The EAL ends the process, with a trace of its stack, when it has no files for its threads. */
static int files_check(const struct config *config, struct err *err)
{
	unsigned need =
		files_open() + FILES_EAL + FILES_LCORE * cores_below(config, UINT16_MAX + 1);
	struct rlimit limit;

	for (unsigned i = 0; i < config->ports; i++)
		if (!config->port[i].is_network)
			need += FILES_PORT + FILES_QUEUE * config->port[i].cores;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_max >= need && !setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return err_set(err, EXIT_ENVIRONMENT,
		       "this process may open %llu files, and this run needs %u: raise `ulimit -n`",
		       (unsigned long long)limit.rlim_max, need);
}

/* The EAL prints its usage to stdout, where only results belong, when it dislikes an argument. */
static int eal_init_quietly(void)
{
	char **copy = calloc(args.count + 1, sizeof(*copy)); /* getopt permutes it */
	int out, null, ret;

	require(copy);
	memcpy(copy, args.value, args.count * sizeof(*copy));
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (out >= 0 && null >= 0)
		dup2(null, STDOUT_FILENO);
	ret = rte_eal_init((int)args.count, copy);
	fflush(stdout);
	if (out >= 0 && null >= 0)
		dup2(out, STDOUT_FILENO);
	close(out);
	close(null);
	free(copy);
	return ret;
}

int eal_start(const struct config *config, const char *program, struct err *err)
{
	bool pci;

	args_add("%s", program);
	args_add_telemetry();
	if (files_check(config, err) || args_add_pci(config, &pci, err) ||
	    args_add_lcores(config, err) || args_add_memory(config, pci, err)) {
		args_free();
		return -1;
	}
	eal_log_start(args_add_user(config));
	if (eal_init_quietly() < 0) {
		err_set(err, EXIT_ENVIRONMENT, "DPDK does not start: %s%s%s", strerror(rte_errno),
			eal_log_cause(),
			config->eal_args ? "; check the `eal` arguments of the configuration" : "");
		args_free();
		return -1;
	}
	return 0;
}

/* Clean-up unmaps the EAL's memory under its interrupt thread, which runs on until the process
 * ends: a memif whose peer leaves just then is looked at there. Nothing of ours is outside the
 * process, so then it is left to the exit. */
void eal_stop(void)
{
	if (!port_use_guarded())
		rte_eal_cleanup();
	args_free();
}
