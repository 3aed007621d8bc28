/* Loading: read the tree, apply the settings, fill the structs, check across keys, print what is
 * wrong. Every stage goes on after a fault, so that one run shows all of them. */
#include "config.h"

#include <string.h>

#include "../base/require.h"
#include "reader.h"

const char *traffic_kind_name(enum traffic_kind kind)
{
	static const char *const name[] = {
		"http-client", "http-server",  "tcp-client",          "tcp-server",
		"udp-client",  "udp-server",   "udp-blast",           "udp-sink",
		"replay",      "conversation", "conversation-client", "conversation-server"};

	return name[kind];
}

int config_load(struct config *config, const char *file, const char *const *set, unsigned sets,
		const struct config_machine *machine, FILE *errors)
{
	struct document document = {.set = set};
	struct reader reader = {
		.document = &document, .config = config, .machine = machine, .kinds = KIND_ALL};
	size_t problems;

	*config = (struct config){.file = NULL};
	config->file = storage_text(config, file ? file : "command line");
	document_read(&document, file);
	for (unsigned i = 0; document.root && i < sets; i++)
		document_set(&document, i);
	if (document.root) {
		struct where root = {.node = document.root};

		object_read(&reader, &root, OBJECT_ROOT, (char *)config);
		networks_place(&reader);
		config_check(&reader);
		machine_check(&reader);
		config->json = cJSON_PrintUnformatted(document.root);
		require(config->json);
	}
	problems = document_report(&document, errors);
	document_free(&document);
	if (problems)
		config_free(config);
	return problems ? -1 : 0;
}
