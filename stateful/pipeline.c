/* HTTP pipelining, and the same of raw payloads: several requests under way on one connection.
 *
 * A connection without think time or rate sends a request for each response; with think time, as
 * many as the pipeline is deep, and pauses when all are answered; with a rate, those that the
 * launcher gives to it. What cannot be sent at once - no packet, or more different messages than a
 * sender lines up - stays owed, and leaves a little later. */
#include "core.h"

int pipeline_init(struct stateful *s, struct entry *e, struct arena *arena)
{
	e->depth = e->config->pipeline;
	e->pipeline_bytes = pipeline_size(e->config);
	if (!e->pipeline_bytes)
		return 0;
	e->pipeline = arena_take(arena, (size_t)s->table.capacity * e->pipeline_bytes);
	return e->pipeline ? 0 : -1;
}

uint32_t pipeline_size(const struct config_traffic *t)
{
	if (t->kind != HTTP_CLIENT && t->kind != TCP_CLIENT)
		return 0;
	return t->pipeline < 2
		       ? 0
		       : (uint32_t)(sizeof(struct pipeline) + t->pipeline * sizeof(struct awaited));
}

void pipeline_open(struct stateful *s, struct conn *c)
{
	struct pipeline *p = conn_pipeline(s, c);

	if (unlikely(p))
		*p = (struct pipeline){.count = 0};
}

bool pipeline_has_room(const struct stateful *s, const struct conn *c)
{
	const struct pipeline *p = conn_pipeline(s, c);

	return c->state == ESTABLISHED && p->count < conn_entry(s, c)->depth && !c->closing &&
	       c->note < CONN_LEFT;
}

void pipeline_fill(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	struct pipeline *p = conn_pipeline(s, c);

	/* a side record from the start knows the peer's window */
	if (p->owed > 1 && seg && !c->has_side)
		sender_borrow(s, c, seg);
	while (p->owed && pipeline_has_room(s, c) && requests_left(e, *conn_requests(s, c))) {
		if (!client_request(s, c, seg)) {
			client_retry(s, c);
			return;
		}
		p->owed--;
		seg = NULL;
	}
}

void pipeline_begin(struct stateful *s, struct conn *c, struct segment *seg)
{
	conn_pipeline(s, c)->owed = conn_entry(s, c)->depth;
	pipeline_fill(s, c, seg);
}

void pipeline_next(struct stateful *s, struct conn *c, struct segment *seg)
{
	struct entry *e = conn_entry(s, c);
	struct pipeline *p = conn_pipeline(s, c);

	if (e->paced) {
		launch_idle(s, c);
	} else if (!e->think && requests_left(e, *conn_requests(s, c))) {
		p->owed = (uint16_t)(e->depth - p->count);
		pipeline_fill(s, c, seg);
	} else if (!c->wait) {
		c->time = (uint32_t)(s->now >> e->idle_shift);
		if (e->think && requests_left(e, *conn_requests(s, c)))
			conn_arm_app(s, c, e->think);
	}
}
