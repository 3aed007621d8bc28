/* Charts: lines over time, and lines over percentiles on a logarithmic scale.
 *
 * A chart is a struct of its frame and scales; series are drawn into it one by one. A counter of an
 * interval is shown as rate over that interval's length. A run of many intervals is drawn as means
 * of several, because no screen has more columns; its caption says so. A series that is zero
 * throughout is left out, and so is a chart without series. */
#include "page_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page_html.h"

#define WIDTH      720
#define HEIGHT     220
#define LEFT       84
#define RIGHT      12
#define TOP        10
#define BOTTOM     26
#define POINTS_MAX 400
#define SERIES_MAX 8
#define VALUE_MAX  1e300 /* nobody measured more */
#define VALUE_MIN  1e-6  /* nor so little that it could be seen */

static const char *const color[SERIES_MAX] = {"#2a6fdb", "#e0662b", "#2c9c5a", "#b23aa8",
					      "#c9a20c", "#17a2a2", "#d43c4a", "#7a7a7a"};

struct chart {
	FILE *out;
	double x_min, x_max, y_min, y_max;
	bool log; /* y_min is above 0 */
};

static double x_of(const struct chart *c, double x)
{
	double span = c->x_max - c->x_min;

	return LEFT + (span > 0 ? (x - c->x_min) / span : 0) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *c, double y)
{
	double share = c->log ? log(fmax(y, c->y_min) / c->y_min) / log(c->y_max / c->y_min)
			      : y / c->y_max;

	return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

/* The next number of 1, 2, 5, 10, 20 ... that is not below. */
static double nice(double value)
{
	double power, digit;

	if (value < VALUE_MIN / 100)
		return 1;
	power = pow(10, floor(log10(value)));
	digit = value / power;
	return (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
}

static void y_tick(const struct chart *c, double y)
{
	fprintf(c->out,
		"<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"y\" x=\"%d\" y=\"%.1f\">",
		LEFT, WIDTH - RIGHT, y_of(c, y), y_of(c, y), LEFT - 6, y_of(c, y) + 4);
	html_number(c->out, y);
	fputs("</text>\n", c->out);
}

static void x_tick(const struct chart *c, double x, const char *text)
{
	fprintf(c->out, "<text class=\"x\" x=\"%.1f\" y=\"%d\">%s</text>\n", x_of(c, x), HEIGHT - 8,
		text);
}

static void y_axis(const struct chart *c)
{
	double step = nice(c->y_max / 5);

	if (c->log)
		for (double y = c->y_min; y <= c->y_max * 1.001; y *= 10)
			y_tick(c, y);
	else
		for (double y = 0; y <= c->y_max * 1.001; y += step)
			y_tick(c, y);
}

static void x_axis_time(const struct chart *c)
{
	double step = nice(c->x_max / 10);
	char text[32];

	for (double x = 0; x <= c->x_max * 1.001; x += step) {
		snprintf(text, sizeof(text), "%g s", x);
		x_tick(c, x, text);
	}
}

static void chart_open(const struct chart *c)
{
	fprintf(c->out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
	y_axis(c);
}

static void legend(FILE *out, const char *const *name, unsigned series)
{
	fputs("<p class=\"legend\">", out);
	for (unsigned i = 0; i < series; i++) {
		fprintf(out, "<span style=\"color:%s\">&#9632;</span> ", color[i]);
		html_text(out, name[i]);
		putc(' ', out);
	}
	fputs("</p>\n", out);
}

/* Over time. */

struct time_chart {
	const char *title;
	bool level; /* as it is, not per second */
	const char *name[SERIES_MAX];
};

static const struct time_chart time_charts[] = {
	{"Packets per second", false, {"pktRx", "pktTx"}},
	{"Bits per second", false, {"bitsRx", "bitsTx"}},
	{"Connections per second", false, {"skOpen", "skClose", "skErr"}},
	{"Open connections", true, {"skCon"}},
	{"HTTP per second",
	 false,
	 {"httpGet", "httpPost", "http2XX", "http3XX", "http4XX", "http5XX", "httpErr"}},
	{"UDP per second", false, {"udpRx", "udpTx", "udpReq", "udpRsp", "udpLost"}},
	{"Sent again, and lost, per second",
	 false,
	 {"synRt", "finRt", "ackRt", "pushRt", "tcpDrop", "dropTx", "imissed", "badRx"}},
};

struct point {
	double t, value;
};

static double number_of(const struct json *object, const char *name)
{
	double number = 0;

	json_number(json_get(object, name), &number);
	return number;
}

/* The value of a series in an interval: a member's, or a list's element for "cpuUsage". */
static double interval_value(const struct json *interval, const char *name, int element)
{
	const struct json *item = json_get(interval, name);
	double number = 0;

	if (element >= 0)
		for (item = json_first(item); item && element--; item = json_next(item))
			;
	json_number(item, &number);
	return number;
}

/* At most POINTS_MAX points, each the mean of `group` intervals; returns how many. */
static unsigned series_read(struct point *point, const struct json *intervals, unsigned group,
			    const char *name, int element, bool level)
{
	double sum = 0, before = 0;
	unsigned points = 0, count = 0;

	for (const struct json *i = json_first(intervals); i; i = json_next(i)) {
		double t = number_of(i, "t");

		sum += interval_value(i, name, element);
		if (++count < group && json_next(i))
			continue;
		point[points].t = t;
		point[points].value = level ? sum / count : t > before ? sum / (t - before) : 0;
		points++;
		before = t;
		sum = 0;
		count = 0;
	}
	return points;
}

static double points_max(const struct point *point, unsigned points)
{
	double max = 0;

	for (unsigned i = 0; i < points; i++)
		max = fmax(max, point[i].value);
	return max;
}

static void line(const struct chart *c, const struct point *point, unsigned points, unsigned series)
{
	fprintf(c->out, "<polyline style=\"stroke:%s\" points=\"", color[series]);
	for (unsigned i = 0; i < points; i++)
		fprintf(c->out, "%.1f,%.1f ", x_of(c, point[i].t), y_of(c, point[i].value));
	fputs("\"/>\n", c->out);
}

static void phase_draw(const struct chart *c, double from, double to)
{
	if (to > from)
		fprintf(c->out,
			"<rect class=\"phase\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
			"height=\"%d\"/>\n",
			x_of(c, from), TOP, x_of(c, to) - x_of(c, from), HEIGHT - TOP - BOTTOM);
}

/* Grey where the load is not measured: ramp and drain. */
static void phases_draw(const struct chart *c, const struct json *intervals)
{
	double from = 0, before = 0;
	bool was_grey = false;

	for (const struct json *i = json_first(intervals); i; i = json_next(i)) {
		const char *phase = json_text(json_get(i, "phase"));
		bool grey = phase && strcmp(phase, "steady") != 0;

		if (grey && !was_grey)
			from = before;
		if (was_grey && !grey)
			phase_draw(c, from, before);
		before = number_of(i, "t");
		was_grey = grey;
	}
	if (was_grey)
		phase_draw(c, from, before);
}

struct drawing {
	struct point point[SERIES_MAX][POINTS_MAX + 1];
	const char *name[SERIES_MAX];
	unsigned points, series;
	double max;
};

static void series_add(struct drawing *d, const struct json *intervals, unsigned group,
		       const char *name, int element, bool level)
{
	double max;

	d->points = series_read(d->point[d->series], intervals, group, name, element, level);
	max = points_max(d->point[d->series], d->points);
	if (max < VALUE_MIN || max > VALUE_MAX)
		return;
	d->max = fmax(d->max, max);
	d->name[d->series++] = name;
}

static void drawing_put(FILE *out, const char *title, const struct drawing *d,
			const struct json *intervals, unsigned group)
{
	struct chart chart = {.out = out,
			      .x_max = fmin(d->point[0][d->points - 1].t, VALUE_MAX),
			      .y_max = nice(d->max / 5) * ceil(d->max / nice(d->max / 5))};

	fprintf(out, "<figure><figcaption>%s", title);
	if (group > 1)
		fprintf(out, " (each point the mean of %u intervals)", group);
	fputs("</figcaption>\n", out);
	chart_open(&chart);
	x_axis_time(&chart);
	phases_draw(&chart, intervals);
	for (unsigned i = 0; i < d->series; i++)
		line(&chart, d->point[i], d->points, i);
	fputs("</svg>\n", out);
	legend(out, d->name, d->series);
	fputs("</figure>\n", out);
}

/* One line for each worker, as many as there are colours. */
static void cpu_read(struct drawing *d, const struct json *intervals, unsigned group)
{
	static const char *const worker[SERIES_MAX] = {"worker 0", "worker 1", "worker 2",
						       "worker 3", "worker 4", "worker 5",
						       "worker 6", "worker 7"};
	const struct json *cpu = json_first(json_get(json_first(intervals), "cpuUsage"));

	for (int i = 0; cpu && i < SERIES_MAX; i++, cpu = json_next(cpu)) {
		unsigned before = d->series;

		series_add(d, intervals, group, "cpuUsage", i, true);
		if (d->series > before)
			d->name[before] = worker[i];
	}
}

static unsigned count_of(const struct json *list)
{
	unsigned count = 0;

	for (const struct json *item = json_first(list); item; item = json_next(item))
		count++;
	return count;
}

void chart_intervals(FILE *out, const struct json *intervals)
{
	unsigned count = count_of(intervals), group = (count + POINTS_MAX - 1) / POINTS_MAX;
	struct drawing *d = malloc(sizeof(*d));

	for (unsigned c = 0; d && count && c <= sizeof(time_charts) / sizeof(*time_charts); c++) {
		bool cpu = c == sizeof(time_charts) / sizeof(*time_charts);
		const struct time_chart *chart = &time_charts[c];

		d->series = 0;
		d->max = 0;
		if (cpu)
			cpu_read(d, intervals, group);
		for (unsigned i = 0; !cpu && i < SERIES_MAX && chart->name[i]; i++)
			series_add(d, intervals, group, chart->name[i], -1, chart->level);
		if (d->series)
			drawing_put(out, cpu ? "Busy, percent of a worker's core" : chart->title, d,
				    intervals, group);
	}
	free(d);
}

/* Percentiles. */

static const char *const percentile[] = {"min", "p50", "p90", "p99", "p99.9", "max"};
#define PERCENTILES (sizeof percentile / sizeof *percentile)

/* What was measured at all, of the first SERIES_MAX. */
static unsigned latencies_read(const struct json *latencies, const struct json **found,
			       double *least, double *most)
{
	unsigned count = 0;

	for (const struct json *l = json_first(latencies); l && count < SERIES_MAX;
	     l = json_next(l)) {
		if (!json_is_object(l) || !(number_of(l, "count") > 0))
			continue;
		for (unsigned i = 0; i < PERCENTILES; i++) {
			double value = number_of(l, percentile[i]);

			*most = fmax(*most, value);
			if (value > 0)
				*least = fmin(*least, value);
		}
		found[count++] = l;
	}
	return count;
}

void chart_latency(FILE *out, const struct json *latencies)
{
	const struct json *found[SERIES_MAX];
	double least = INFINITY, most = 0;
	unsigned count = latencies_read(latencies, found, &least, &most);
	struct chart chart = {.out = out, .x_max = PERCENTILES - 1, .log = true};
	const char *name[SERIES_MAX];

	if (!count || !(most > 0) || most > VALUE_MAX)
		return;
	chart.y_min = pow(10, floor(log10(fmax(least, VALUE_MIN))));
	chart.y_max = fmax(10 * chart.y_min, pow(10, ceil(log10(most * 1.0001))));
	fputs("<figure><figcaption>Latency, us</figcaption>\n", out);
	chart_open(&chart);
	for (unsigned i = 0; i < PERCENTILES; i++)
		x_tick(&chart, i, percentile[i]);
	for (unsigned s = 0; s < count; s++) {
		struct point point[PERCENTILES];

		for (unsigned i = 0; i < PERCENTILES; i++)
			point[i] = (struct point){i, number_of(found[s], percentile[i])};
		line(&chart, point, PERCENTILES, s);
		name[s] = json_name(found[s]);
	}
	fputs("</svg>\n", out);
	legend(out, name, count);
	fputs("</figure>\n", out);
}
