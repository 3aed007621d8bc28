/* The command line of `onager replay` as settings: a configuration of one port and one replay. */
#ifndef CONFIG_REPLAY_ARGUMENTS_H
#define CONFIG_REPLAY_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

struct replay_arguments {
	char **set; /* "PATH=VALUE", to be applied to an empty configuration; allocated */
	unsigned sets;
	unsigned files;
	const char *offline, *output; /* --offline CONFIG, -o OUT; NULL: not given */
	const char *file;             /* the first */
	bool has_port;                /* --port, or a --set that may stand for it */
	const char *lacking;          /* the option that was given without a value; NULL: none */
};

/* Take files and options out of the arguments behind argv[0]: every key of a replay is an option,
 * and so are --port and --core. What is not known here stays in argv, whose new length is returned.
 */
int replay_arguments_take(struct replay_arguments *, int argc, char **argv);
void replay_arguments_free(struct replay_arguments *);

/* The options that are keys, with their meaning, for help. */
void replay_arguments_help(FILE *);

#endif
