/* Tables live in one mapping per arena, so that a connection table of any size costs one VMA and
 * few TLB entries.
 *
 * Explicit hugepages are mapped without MAP_NORESERVE: the kernel sets them aside at once or
 * refuses, so touching them later cannot raise SIGBUS. Everything else is MAP_NORESERVE with
 * transparent hugepages asked for: a table reserves address space for its worst case and costs what
 * is touched.
 *
 * The node is a preference, not a binding: a run on a full node is slower, not dead.
 *
 * Rejected: rte_malloc (needs hugepages or the fixed -m of --no-huge, zeroes what it hands out, and
 * its heap cannot leave pages untouched). */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <numa.h>

#define KI ((size_t)1024)
#define MI (KI * KI)
#define GI (KI * MI)

#define ALIGN_SLACK (64 * KI) /* a thousand takes may each be rounded up to a cache line */

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

static const struct huge {
	uint64_t size;
	int flag;
	const char *name;
} huge_kinds[] = {
	{GI, 30 << MAP_HUGE_SHIFT, "1 GiB hugepages"},
	{2 * MI, 21 << MAP_HUGE_SHIFT, "2 MiB hugepages"},
};

static uint64_t round_up(uint64_t size, uint64_t unit)
{
	return (size + unit - 1) / unit * unit;
}

uint64_t memory_hugepages_free(uint64_t page_size, int socket)
{
	unsigned long long pages = 0;
	char path[128];
	FILE *file;

	if (socket >= 0)
		snprintf(path, sizeof(path),
			 "/sys/devices/system/node/node%d/hugepages/hugepages-%" PRIu64
			 "kB/free_hugepages",
			 socket, page_size / KI);
	else
		snprintf(path, sizeof(path),
			 "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/free_hugepages",
			 page_size / KI);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages;
}

bool memory_hugepages_work(void)
{
	for (unsigned i = 0; i < sizeof(huge_kinds) / sizeof(huge_kinds[0]); i++) {
		const struct huge *huge = &huge_kinds[i];
		void *map;
		int fd;

		if (!memory_hugepages_free(huge->size, -1))
			continue;
		fd = memfd_create("onager", MFD_CLOEXEC | MFD_HUGETLB | (unsigned)huge->flag);
		if (fd < 0)
			return false;
		map = mmap(NULL, huge->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		if (map == MAP_FAILED)
			return false;
		munmap(map, huge->size);
	}
	return true;
}

static bool has_transparent_hugepages(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
	char text[64] = "[never]";

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return text[0] && !strstr(text, "[never]");
}

/* A mapping whose start is aligned to `align`; what is mapped around it goes back. */
static char *map_aligned(size_t size, size_t align)
{
	char *map = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (map == MAP_FAILED)
		return NULL;
	start = (char *)round_up((uintptr_t)map, align);
	if (start > map)
		munmap(map, (size_t)(start - map));
	munmap(start + size, align - (size_t)(start - map));
	return start;
}

static int map_huge(struct memory_arena *m, size_t size, int socket)
{
	for (unsigned i = 0; i < sizeof(huge_kinds) / sizeof(huge_kinds[0]); i++) {
		const struct huge *huge = &huge_kinds[i];
		uint64_t rounded = round_up(size, huge->size);
		char *map;

		/* Not a whole gigabyte for a table of some megabytes. */
		if (rounded > 2 * size && rounded > 2 * MI)
			continue;
		if (memory_hugepages_free(huge->size, socket) < rounded / huge->size)
			continue;
		map = mmap(NULL, rounded, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | huge->flag, -1, 0);
		if (map == MAP_FAILED)
			continue;
		m->base = map;
		m->size = rounded;
		m->pages = huge->name;
		return 0;
	}
	return -1;
}

static int map_normal(struct memory_arena *m, size_t size, struct err *err)
{
	size = round_up(size, 2 * MI);
	m->base = map_aligned(size, 2 * MI);
	if (!m->base)
		return err_set(err, EXIT_ENVIRONMENT,
			       "no address space for tables of %zu MiB: %s; is there a limit "
			       "(ulimit -v)?",
			       size / MI, strerror(errno));
	m->size = size;
	m->pages = "4 KiB pages";
	if (has_transparent_hugepages() && !madvise(m->base, size, MADV_HUGEPAGE))
		m->pages = "transparent hugepages";
	return 0;
}

static void *arena_take_memory(struct arena *arena, size_t size)
{
	struct memory_arena *m = (struct memory_arena *)arena;
	void *memory = m->base + m->used;

	size = round_up(size, 64);
	if (size > m->size - m->used)
		return NULL;
	m->used += size;
	return memory;
}

int memory_arena_open(struct memory_arena *m, size_t size, int socket,
		      enum config_hugepages hugepages, struct err *err)
{
	*m = (struct memory_arena){.arena.take = arena_take_memory};
	size += ALIGN_SLACK;
	if (numa_available() < 0 || numa_max_node() < 1)
		socket = -1;
	if (hugepages == HUGEPAGES_OFF || map_huge(m, size, socket)) {
		if (hugepages == HUGEPAGES_ON)
			return err_set(
				err, EXIT_ENVIRONMENT,
				"tables need %zu MiB of hugepages and %" PRIu64
				" of 2 MiB are free: reserve them (sysctl vm.nr_hugepages=%zu) "
				"or set memory.hugepages to \"auto\"",
				size / MI + 1, memory_hugepages_free(2 * MI, socket),
				size / (2 * MI) + 1);
		if (map_normal(m, size, err))
			return -1;
	}
	if (socket >= 0)
		numa_tonode_memory(m->base, m->size, socket);
	return 0;
}

void memory_arena_close(struct memory_arena *m)
{
	if (m->base)
		munmap(m->base, m->size);
	m->base = NULL;
}

uint64_t memory_machine(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
	unsigned long long limit;

	if (!file)
		return bytes;
	if (fscanf(file, "%llu", &limit) == 1 && limit < bytes)
		bytes = limit;
	fclose(file);
	return bytes;
}

uint64_t memory_resident(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	uint64_t total = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		unsigned long long kib;

		if (sscanf(line, "VmRSS: %llu", &kib) == 1 ||
		    sscanf(line, "HugetlbPages: %llu", &kib) == 1)
			total += kib * KI;
	}
	fclose(file);
	return total;
}
