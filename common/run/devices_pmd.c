/* Which drivers this DPDK has. Every driver carries a line "PMD_INFO_STRING= {JSON}" in its file,
 * with its name, its arguments and the PCI devices it knows: read from DPDK's plug-in folder, and
 * from our own binary for drivers that are linked statically. This needs neither root nor the EAL.
 *
 * Rejected: asking the EAL, whose list of vdev drivers is private, and which would have to be
 * started. */
#define _GNU_SOURCE
#include "devices.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_build_config.h>

#include "../base/require.h"

#define MARK "PMD_INFO_STRING= "

/* The text of a string member of the JSON, allocated; "" when absent. */
static char *member(const char *json, const char *key)
{
	const char *start = strstr(json, key);

	if (!start)
		return strdup("");
	start += strlen(key);
	return strndup(start, strcspn(start, "\""));
}

static void pmd_free(struct devices_pmd *pmd)
{
	free(pmd->name);
	free(pmd->arguments);
	free(pmd->ids);
	free(pmd);
}

static void pmd_add(struct devices *d, const char *json)
{
	const char *ids = strstr(json, "\"pci_ids\": [");
	struct devices_pmd *pmd;

	pmd = calloc(1, sizeof(*pmd));
	require(pmd);
	pmd->name = member(json, "\"name\": \"");
	pmd->arguments = member(json, "\"params\": \"");
	pmd->ids = strdup(ids ? ids + strlen("\"pci_ids\": [") : "");
	require(pmd->name && pmd->arguments && pmd->ids);
	if (!pmd->name[0]) { /* the mark as this very file has it */
		pmd_free(pmd);
		return;
	}
	pmd->next = d->pmd;
	d->pmd = pmd;
}

static void file_scan(struct devices *d, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *map, *at;

	if (fd < 0)
		return;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return;
	}
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	at = map;
	while ((at = memmem(at, (size_t)(map + status.st_size - at), MARK "{", strlen(MARK) + 1))) {
		char *json = strndup(at + strlen(MARK),
				     (size_t)(map + status.st_size - at) - strlen(MARK));

		require(json);
		pmd_add(d, json);
		at += strlen(MARK) + strlen(json);
		free(json);
	}
	munmap(map, (size_t)status.st_size);
}

void devices_find_pmds(struct devices *d)
{
	DIR *folder = opendir(RTE_EAL_PMD_PATH);
	struct dirent *entry;
	char path[512];

	/* Only regular files: each driver has links of other versions beside it. */
	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "librte_net_", 11) || entry->d_type != DT_REG)
			continue;
		snprintf(path, sizeof(path), "%s/%s", RTE_EAL_PMD_PATH, entry->d_name);
		file_scan(d, path);
	}
	if (folder)
		closedir(folder);
	file_scan(d, "/proc/self/exe");
}

void devices_free_pmds(struct devices *d)
{
	while (d->pmd) {
		struct devices_pmd *pmd = d->pmd;

		d->pmd = pmd->next;
		pmd_free(pmd);
	}
}

const struct devices_pmd *devices_pmd_of(const struct devices *d, unsigned vendor, unsigned device)
{
	char id[32];

	snprintf(id, sizeof(id), "[%u, %u,", vendor, device);
	for (const struct devices_pmd *pmd = d->pmd; pmd; pmd = pmd->next)
		if (strstr(pmd->ids, id))
			return pmd;
	return NULL;
}
