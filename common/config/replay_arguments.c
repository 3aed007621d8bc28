/* Options from the table of keys: "max_gap" of a replay is --max-gap, "dst" of its "convert" is
 * --convert-dst. So there is one list of what a replay can be told, and a command line means
 * exactly what the file would: its settings are applied to an empty configuration, with the same
 * checks. */
#include "replay_arguments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/require.h"
#include "document.h"
#include "key.h"

#define NAME_MAX_LENGTH 64

/* Not keys of the replay: the port that it has. */
static const struct {
	const char *name, *path, *help;
} port_option[] = {
	{"port", "ports.0.device", "Device to send to, as `onager devices` names it."},
	{"core", "ports.0.cores", "Processor cores, as a list or \"0-1\"; absent: 0."},
	{"mtu", "ports.0.mtu", "Largest IP packet of the port; absent: 1500."},
};
#define PORT_OPTIONS (sizeof(port_option) / sizeof(*port_option))

struct option_row {
	const struct key *key;
	char name[NAME_MAX_LENGTH]; /* "convert-dst" */
	char path[NAME_MAX_LENGTH]; /* "convert.dst" */
};

static bool is_option(const struct key *key)
{
	return key->object == OBJECT_TRAFFIC && key->kinds & KIND_REPLAY &&
	       strcmp(key->name, "kind") && strcmp(key->name, "name") &&
	       strcmp(key->name, "port") && strcmp(key->name, "files") && key->type != TYPE_LIST;
}

static void row_fill(struct option_row *row, const struct key *outer, const struct key *key)
{
	row->key = key;
	snprintf(row->path, sizeof(row->path), "%s%s%s", outer ? outer->name : "", outer ? "." : "",
		 key->name);
	snprintf(row->name, sizeof(row->name), "%s", row->path);
	for (char *c = row->name; *c; c++)
		if (*c == '_' || *c == '.')
			*c = '-';
}

/* Call visit() with each option until it returns true; returns whether it did. */
static bool rows_visit(bool (*visit)(const struct option_row *, void *), void *arg)
{
	struct option_row row;

	for (size_t i = 0; i < key_count; i++) {
		const struct key *key = &key_table[i];

		if (!is_option(key))
			continue;
		if (key->type != TYPE_OBJECT) {
			row_fill(&row, NULL, key);
			if (visit(&row, arg))
				return true;
			continue;
		}
		for (size_t n = 0; n < key_count; n++) {
			if (key_table[n].object != key->inner || key_table[n].type == TYPE_LIST)
				continue;
			row_fill(&row, key, &key_table[n]);
			if (visit(&row, arg))
				return true;
		}
	}
	return false;
}

static void set_add(struct replay_arguments *a, char *set)
{
	a->set = realloc(a->set, (a->sets + 1) * sizeof(*a->set));
	require(a->set);
	a->set[a->sets++] = set;
}

/* What is looked for, and where it is in the configuration. */
struct search {
	const char *name;
	size_t length;
	char *path;
	bool is_bool;
};

static bool row_is(const struct option_row *row, void *arg)
{
	struct search *search = arg;

	if (strlen(row->name) != search->length || memcmp(row->name, search->name, search->length))
		return false;
	search->path = text_format("traffic.0.%s", row->path);
	search->is_bool = row->key->type == TYPE_BOOL;
	return true;
}

static bool search_run(struct search *search)
{
	for (size_t i = 0; i < PORT_OPTIONS; i++) {
		if (strlen(port_option[i].name) != search->length ||
		    memcmp(port_option[i].name, search->name, search->length))
			continue;
		search->path = text_format("%s", port_option[i].path);
		return true;
	}
	return rows_visit(row_is, search);
}

/* The options that make it another command; returns how many arguments were taken. */
static int offline_take(struct replay_arguments *a, int argc, char **argv, int i)
{
	const char **to = !strcmp(argv[i], "--offline")                            ? &a->offline
			  : !strcmp(argv[i], "-o") || !strcmp(argv[i], "--output") ? &a->output
										   : NULL;

	if (!to)
		return 0;
	if (i + 1 == argc) {
		a->lacking = argv[i];
		return 1;
	}
	*to = argv[i + 1];
	return 2;
}

/* Take the option at argv[i]; returns how many arguments it is, 0 if it is not known. */
static int option_take(struct replay_arguments *a, int argc, char **argv, int i)
{
	struct search search = {.name = argv[i] + 2, .length = strcspn(argv[i] + 2, "=")};
	const char *value = search.name + search.length;
	int taken = 1;

	if (!search_run(&search))
		return 0;
	if (*value == '=')
		value++;
	else if (search.is_bool)
		value = "true";
	else if (i + 1 < argc)
		value = argv[i + taken++];
	else
		a->lacking = argv[i];
	set_add(a, text_format("%s=%s", search.path, value));
	free(search.path);
	return taken;
}

/* A file's name as a JSON text. */
static char *quoted(const char *text)
{
	char *json = malloc(6 * strlen(text) + 3), *at = json;

	require(json);
	*at++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
		if ((unsigned char)*text < ' ')
			at += sprintf(at, "\\u%04x", *text);
		else
			*at++ = *text;
	}
	strcpy(at, "\"");
	return json;
}

static void file_take(struct replay_arguments *a, const char *file)
{
	char *json = quoted(file);

	if (!a->files)
		a->file = file;
	set_add(a, text_format("traffic.0.files.%u=%s", a->files++, json));
	free(json);
}

/* Options of the command itself that have a value. */
static bool has_value(const char *argument)
{
	return !strcmp(argument, "--set") || !strcmp(argument, "--report") ||
	       !strcmp(argument, "--format");
}

int replay_arguments_take(struct replay_arguments *a, int argc, char **argv)
{
	bool files_only = false;
	int left = 1;

	*a = (struct replay_arguments){.files = 0};
	set_add(a, text_format("ports.0.cores=[0]"));
	set_add(a, text_format("traffic.0.kind=replay"));
	set_add(a, text_format("traffic.0.name=replay"));
	for (int i = 1; i < argc; i++) {
		int taken = 0;

		if (!files_only && !strcmp(argv[i], "--")) {
			files_only = true;
			continue;
		}
		if (files_only || argv[i][0] != '-' || !argv[i][1]) {
			file_take(a, argv[i]);
			continue;
		}
		a->has_port |= !strncmp(argv[i], "--port", 6) || !strncmp(argv[i], "--set", 5);
		taken = offline_take(a, argc, argv, i);
		if (!taken && argv[i][1] == '-')
			taken = option_take(a, argc, argv, i);
		if (taken) {
			i += taken - 1;
			continue;
		}
		argv[left++] = argv[i];
		if (has_value(argv[i]) && i + 1 < argc)
			argv[left++] = argv[++i];
	}
	argv[left] = NULL;
	return left;
}

void replay_arguments_free(struct replay_arguments *a)
{
	for (unsigned i = 0; i < a->sets; i++)
		free(a->set[i]);
	free(a->set);
}

static void option_print(FILE *out, const char *name, bool has_argument, const char *help)
{
	enum { WIDTH = 66 };
	const char *at = help;

	fprintf(out, "  --%s%s\n", name, has_argument ? " VALUE" : "");
	while (*at) {
		size_t length = strlen(at);

		if (length > WIDTH)
			for (length = WIDTH; length && at[length] != ' '; length--)
				;
		fprintf(out, "        %.*s\n", (int)length, at);
		at += length + (at[length] == ' ');
	}
}

static bool row_print(const struct option_row *row, void *arg)
{
	option_print(arg, row->name, row->key->type != TYPE_BOOL, row->key->help);
	return false;
}

void replay_arguments_help(FILE *out)
{
	for (size_t i = 0; i < PORT_OPTIONS; i++)
		option_print(out, port_option[i].name, true, port_option[i].help);
	rows_visit(row_print, out);
}
