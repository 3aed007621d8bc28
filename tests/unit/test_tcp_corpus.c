/* The inputs that fuzzing found worth keeping, again: see tests/fuzz/fuzz_tcp.c. Without arguments
 * those of tests/fuzz/tcp, else the files named. */
#include "../fuzz/fuzz_tcp.c"

#include <dirent.h>
#include <unistd.h>

/* The mutator is not called here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data;
	(void)max;
	return size;
}

static void replay(const char *name)
{
	uint8_t data[1 + RECORD * RECORDS];
	FILE *file = fopen(name, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
}

static void test_corpus(void **state)
{
	const char *tests = getenv("TEST_SOURCE_DIR");
	const struct dirent *entry;
	unsigned count = 0;
	DIR *directory;

	(void)state;
	assert_int_equal(chdir(tests ? tests : "tests"), 0);
	assert_int_equal(chdir("fuzz/tcp"), 0);
	directory = opendir(".");
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.') {
			replay(entry->d_name);
			count++;
		}
	closedir(directory);
	assert_true(count > 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};

	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return argc > 1 ? 0 : cmocka_run_group_tests_name("tcp corpus", tests, NULL, NULL);
}
