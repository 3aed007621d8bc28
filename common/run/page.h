/* The report as a page: one HTML file that needs nothing else, for people who were not there. */
#ifndef RUN_PAGE_H
#define RUN_PAGE_H

#include <stdio.h>

#include "../config/json.h"

/* What a report must have and this one has not, in words; NULL if it is one. */
const char *page_fault(const struct json *report);

/* Write the page of a report that page_fault() found to be one. */
void page_write(FILE *out, const struct json *report);

#endif
