/* Configurations of other load generators as ours. */
#ifndef CONFIG_CONVERT_H
#define CONFIG_CONVERT_H

#include <stdio.h>

/* Write what the dperf configuration `file` ("-": stdin) means as one of ours, with its comments.
 * What has no equivalent is said as a comment there, and on `messages`, one line each: "file:line:
 * keyword: why". Returns 0, or -1 after messages of what is wrong with the file, in the same form;
 * nothing is written then. */
int convert_dperf(const char *file, FILE *out, FILE *messages);

#endif
