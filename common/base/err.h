/* An error on the control path: one sentence that grows on its way up.
 *
 * Functions return 0, or -1 with the sentence set. Each caller may put what it knows in front
 * ("port c: ..."). Only main.c prints it and exits, with the exit code `exit` of INTERFACE. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum exit_code {
	EXIT_PASS = 0,
	EXIT_FAIL = 1,
	EXIT_USAGE = 2,
	EXIT_INVALID = 3,
	EXIT_ENVIRONMENT = 4
};

struct err {
	enum exit_code exit; /* what the process exits with; EXIT_ENVIRONMENT unless set */
	char text[1024];
};

/* Set the sentence and the exit code; always returns -1, so that `return err_set(...)` reads well.
 */
int err_set(struct err *, enum exit_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put a prefix in front of the sentence; always returns -1. */
int err_prefix(struct err *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
