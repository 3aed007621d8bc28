/* Inputs that fuzzing found worth keeping, again: every file of the directories named, into the
 * target that is linked. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "../../common/base/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *directory, const char *name)
{
	static uint8_t data[1 << 20];
	char path[512];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	require(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *directory = opendir(argv[i]);
		const struct dirent *entry;

		require(directory);
		while ((entry = readdir(directory))) {
			if (entry->d_name[0] == '.')
				continue;
			replay(argv[i], entry->d_name);
			count++;
		}
		closedir(directory);
	}
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
