/* What the machine does not give, told at its place in the file. */
#include "reader.h"

void machine_check(struct reader *r)
{
	struct config_fault fault[CONFIG_FAULTS_MAX];
	unsigned faults = 0;

	if (r->machine->faults && !r->document->problems)
		faults = r->machine->faults(r->config, fault, CONFIG_FAULTS_MAX);
	for (unsigned i = 0; i < faults; i++) {
		const struct config_fault *f = &fault[i];
		struct spot s;
		const struct where *w =
			spot_find(r, &s, f->list ? f->list : "", f->index, f->key, f->inner);

		if (!f->list) { /* straight below the root */
			s.key.up = &s.root;
			s.key.node = cJSON_GetObjectItemCaseSensitive(s.root.node, f->key);
			s.inner.node = cJSON_GetObjectItemCaseSensitive(s.key.node, f->inner);
		}
		problem_add(r->document, f->key ? w : &s.element, PLACE_VALUE, "%s", f->why);
	}
}
