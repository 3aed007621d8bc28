/* How much may be in the network: slow start and congestion avoidance (RFC 5681), or CUBIC (RFC
 * 9438), and what a loss does to the window. When a loss is believed and what is sent again is
 * recovery's (sender.c). */
#include "core.h"

#include <math.h>

#define CUBIC_C        0.4 /* RFC 9438 section 5.1: segments per s^3 */
#define CUBIC_BETA     0.7
#define CUBIC_FRIENDLY (3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)) /* section 4.3 */
#define CWND_MAX       ((uint32_t)INT32_MAX)

void congestion_start(struct side *side, uint32_t mss)
{
	side->cwnd = RTE_MIN(10 * mss, RTE_MAX(2 * mss, 14600u)); /* RFC 6928 */
	side->ssthresh = UINT32_MAX;
}

/* RFC 9438 section 4: in segments and seconds. */
static uint32_t cubic_growth(const struct stateful *s, struct side *side, uint32_t mss,
			     uint32_t acked)
{
	struct cubic *cubic = &side->cubic;
	float cwnd = (float)side->cwnd / (float)mss;
	float segments = (float)acked / (float)mss, t, target;

	if (!cubic->epoch) {
		cubic->epoch = s->now;
		cubic->w_max = fmaxf(cubic->w_max, cwnd);
		cubic->k = cbrtf((cubic->w_max - cwnd) / (float)CUBIC_C);
		cubic->w_est = cwnd;
	}
	t = (float)(s->now - cubic->epoch) / 1e9f + (float)side->srtt_us / 1e6f - cubic->k;
	target = fminf(fmaxf((float)CUBIC_C * t * t * t + cubic->w_max, cwnd), 1.5f * cwnd);
	cubic->w_est += (cubic->w_est < cubic->w_max ? (float)CUBIC_FRIENDLY : 1) * segments / cwnd;
	if (cubic->w_est > target)
		return cubic->w_est > cwnd ? (uint32_t)((cubic->w_est - cwnd) * (float)mss) : 0;
	return (uint32_t)((target - cwnd) / cwnd * (float)acked);
}

void congestion_acked(const struct stateful *s, const struct entry *e, struct side *side,
		      uint32_t mss, uint32_t acked)
{
	uint32_t growth;

	if (side->cwnd < side->ssthresh)
		growth = RTE_MIN(acked, 2 * mss);
	else if (e->config->tcp.congestion == CONGESTION_CUBIC)
		growth = cubic_growth(s, side, mss, acked);
	else
		growth = RTE_MAX(1u, (uint32_t)((uint64_t)mss * RTE_MIN(acked, mss) / side->cwnd));
	side->cwnd = RTE_MIN(side->cwnd + growth, CWND_MAX);
}

void congestion_lost(const struct entry *e, struct side *side, uint32_t mss)
{
	uint32_t flight = side->snd_max - side->snd_una;

	if (e->config->tcp.congestion == CONGESTION_CUBIC) {
		struct cubic *cubic = &side->cubic;
		float cwnd = (float)side->cwnd / (float)mss;

		/* fast convergence, section 4.7 */
		cubic->w_max = cwnd < cubic->w_max ? cwnd * (float)(1 + CUBIC_BETA) / 2 : cwnd;
		cubic->epoch = 0;
		flight = (uint32_t)((float)flight * (float)CUBIC_BETA);
	} else {
		flight /= 2;
	}
	side->ssthresh = RTE_MAX(flight, 2 * mss);
}
