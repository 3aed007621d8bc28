/* AF_XDP's libraries print to stderr whenever something is merely not there (a bpffs, a newer
 * kernel), and say only there why the kernel refused a program. Both are loaded by DPDK's driver,
 * so they are asked for by name at run time: with a DPDK without AF_XDP there is nothing to ask.
 *
 * A kill leaves the XDP program on the interface; it passes everything on to the kernel, and the
 * next run finds, uses and removes it. */
#define _GNU_SOURCE
#include "device.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "eal_log.h"

typedef int (*print_function)(int level, const char *format, va_list list);

/* The kernel's own words are the cause; the rest are its consequences. */
static int print_keep(int level, const char *format, va_list list)
{
	char text[512];
	int length = vsnprintf(text, sizeof(text), format, list);

	(void)level;
	if (length > 0 && strstr(text, "rror"))
		eal_log_keep(text, RTE_MIN((size_t)length, sizeof(text) - 1));
	return length;
}

void device_xdp_quiet(void)
{
	static const struct {
		const char *library, *setter;
	} printers[] = {{"libbpf.so.1", "libbpf_set_print"}, {"libxdp.so.1", "libxdp_set_print"}};

	for (unsigned i = 0; i < RTE_DIM(printers); i++) {
		void *library = dlopen(printers[i].library, RTLD_NOW | RTLD_NOLOAD);
		print_function (*set)(print_function);

		if (!library)
			continue;
		*(void **)&set = dlsym(library, printers[i].setter);
		if (set)
			set(print_keep);
		dlclose(library);
	}
}
