/* Onager's composition root: the command line, and the only file that sees everything.
 *
 * Results go to standard output, everything else to standard error. Errors travel up as sentences
 * (struct err) and are printed here; so is a standard output that cannot take the results. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../stateful/stateful.h"
#include "../stateless/stateless.h"
#include "config/config.h"
#include "config/convert.h"
#include "config/replay_arguments.h"
#include "run/capture.h"
#include "run/offline.h"
#include "run/memory.h"
#include "run/packet_file.h"
#include "run/page.h"
#include "run/plan.h"
#include "run/plan_machine.h"
#include "run/port.h"
#include "run/run.h"
#include "run/simulate.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const char *help;
};

static const struct command *command_find(const char *name);
static void help_print(const struct command *);

/* Everything that the commands on a FILE have in common. */
struct arguments {
	const char *file;
	const char **set;
	unsigned sets;
	char *duration; /* as a `set` argument */
	const char *report, *pcap, *output;
	enum screen_format format;
	bool quiet, json;
};

static const struct crew_engine engine = {stateful_create, stateful_plan, stateless_create,
					  stateless_reserve};

static int fail(const struct err *err)
{
	fprintf(stderr, "onager: %s\n", err->text);
	return err->exit;
}

__attribute__((format(printf, 2, 3))) static int usage(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "onager%s%s: ", command ? " " : "", command ? command : "");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see 'onager help%s%s'\n", command ? " " : "", command ? command : "");
	return EXIT_USAGE;
}

/* Results that could not be written are an error, whatever they say. */
static int output_end(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "onager: standard output: %s\n", strerror(errno ? errno : EIO));
	return EXIT_ENVIRONMENT;
}

enum option_key {
	OPTION_SET = 256,
	OPTION_DURATION,
	OPTION_REPORT,
	OPTION_FORMAT,
	OPTION_JSON,
	OPTION_PCAP
};

static int format_parse(const char *text, enum screen_format *format)
{
	static const char *const name[] = {
		[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CSV] = "csv"};

	for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
		if (!strcmp(text, name[i])) {
			*format = i;
			return 0;
		}
	}
	return -1;
}

/* Take one option; returns an exit code, or -1 to go on. */
static int option_take(struct arguments *a, const char *command, int key, char **argv)
{
	switch (key) {
	case OPTION_SET:
		a->set[a->sets++] = optarg;
		return -1;
	case OPTION_DURATION:
		free(a->duration);
		if (asprintf(&a->duration, "duration=\"%s\"", optarg) < 0)
			a->duration = NULL;
		return -1;
	case OPTION_REPORT:
		a->report = optarg;
		return -1;
	case OPTION_FORMAT:
		if (!format_parse(optarg, &a->format))
			return -1;
		return usage(command, "--format: expected text, json or csv, got '%s'", optarg);
	case OPTION_JSON:
		a->json = true;
		return -1;
	case OPTION_PCAP:
		a->pcap = optarg;
		return -1;
	case 'q':
		a->quiet = true;
		return -1;
	case 'o':
		a->output = optarg;
		return -1;
	case 'h':
		help_print(command_find(command));
		return output_end(EXIT_PASS);
	case ':':
		return usage(command, "option '%s' needs a value", argv[optind - 1]);
	default:
		return usage(command, "unknown option '%s'", argv[optind - 1]);
	}
}

/* Read a command's options and at most one FILE; returns an exit code, or -1 to go on. */
static int arguments_read(struct arguments *a, const struct option *options, int argc, char **argv)
{
	bool has_output = options[0].val == 'o';
	int key;

	*a = (struct arguments){.set = calloc((size_t)argc + 1, sizeof(*a->set))};
	if (!a->set)
		return usage(argv[0], "out of memory");
	while ((key = getopt_long(argc, argv, has_output ? ":o:qh" : ":qh", options, NULL)) != -1) {
		int exit = option_take(a, argv[0], key, argv);

		if (exit >= 0)
			return exit;
	}
	if (optind < argc)
		a->file = argv[optind++];
	if (optind < argc)
		return usage(argv[0], "unexpected argument '%s'", argv[optind]);
	if (a->duration)
		a->set[a->sets++] = a->duration;
	return -1;
}

static void arguments_free(struct arguments *a)
{
	free(a->set);
	free(a->duration);
}

static unsigned device_faults(const struct config *config, struct config_fault *fault,
			      unsigned most)
{
	return plan_faults(config, memory_machine(), false, fault, most);
}

static unsigned simulate_faults(const struct config *config, struct config_fault *fault,
				unsigned most)
{
	return plan_faults(config, memory_machine(), true, fault, most);
}

static int config_read(struct config *config, const struct arguments *a, const char *command)
{
	struct config_machine machine = {
		.cores = (unsigned)sysconf(_SC_NPROCESSORS_CONF),
		.filter_is_wrong = capture_filter_is_wrong,
		.faults = strcmp(command, "simulate") ? device_faults : simulate_faults,
		.packet_read = packet_file_read,
	};

	if (!a->file && strcmp(command, "replay"))
		return usage(command, "no configuration FILE given");
	if (config_load(config, a->file, a->set, a->sets, &machine, stderr))
		return EXIT_USAGE;
	return -1;
}

/* Read the configuration, and begin. */
static int config_start(const struct arguments *a, const char *command,
			int (*start)(struct config *, const struct arguments *))
{
	struct config config;
	int exit = config_read(&config, a, command);

	if (exit < 0) {
		exit = start(&config, a);
		config_free(&config);
	}
	return exit;
}

/* A command whose argument is a configuration. */
static int command_on_file(int argc, char **argv, const struct option *options,
			   int (*start)(struct config *, const struct arguments *))
{
	struct arguments a;
	int exit = arguments_read(&a, options, argc, argv);

	if (exit < 0)
		exit = config_start(&a, argv[0], start);
	arguments_free(&a);
	return exit;
}

static int run_start(struct config *config, const struct arguments *a)
{
	struct run_options options = {
		.program = "onager",
		.report = a->report ? a->report : config->report_json,
		.format = a->format,
		.quiet = a->quiet,
		.engine = &engine,
	};
	enum exit_code exit;
	struct err err = {.exit = EXIT_ENVIRONMENT};

	return run(config, &options, &exit, &err) ? fail(&err) : (int)exit;
}

static int command_run(int argc, char **argv)
{
	static const struct option options[] = {
		{"duration", required_argument, NULL, OPTION_DURATION},
		{"report", required_argument, NULL, OPTION_REPORT},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"quiet", no_argument, NULL, 'q'},
		{"set", required_argument, NULL, OPTION_SET},
		{"help", no_argument, NULL, 'h'},
		{0},
	};

	return command_on_file(argc, argv, options, run_start);
}

/* What the options say is a configuration of its own: that of `run` with one replay. Settings are
 * made on it. */
static int replay_start(const struct replay_arguments *replay, struct arguments *a)
{
	const char **set = calloc(replay->sets + a->sets, sizeof(*set));

	if (!set)
		return usage("replay", "out of memory");
	memcpy(set, replay->set, replay->sets * sizeof(*set));
	memcpy(set + replay->sets, a->set, a->sets * sizeof(*set));
	free(a->set);
	a->set = set;
	a->sets += replay->sets;
	return config_start(a, "replay", run_start);
}

/* A recording into the engines of a configuration. */
static int offline_start(const struct replay_arguments *replay, struct arguments *a)
{
	const struct offline_options options = {replay->file, replay->output, &engine};
	struct err err = {.exit = EXIT_ENVIRONMENT};
	struct config config;
	int exit;

	if (!replay->output)
		return usage("replay", "no -o OUT given for the answers");
	if (replay->files != 1)
		return usage("replay", "expected one PCAP, got %u", replay->files);
	a->file = replay->offline;
	exit = config_read(&config, a, "simulate");
	if (exit >= 0)
		return exit;
	exit = output_end(offline(&config, &options, &err) ? fail(&err) : EXIT_PASS);
	config_free(&config);
	return exit;
}

static int command_replay(int argc, char **argv)
{
	static const struct option options[] = {
		{"report", required_argument, NULL, OPTION_REPORT},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"quiet", no_argument, NULL, 'q'},
		{"set", required_argument, NULL, OPTION_SET},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct replay_arguments replay;
	struct arguments a;
	int exit;

	argc = replay_arguments_take(&replay, argc, argv);
	exit = arguments_read(&a, options, argc, argv);
	if (exit < 0 && replay.lacking)
		exit = usage(argv[0], "option '%s' needs a value", replay.lacking);
	if (exit < 0 && !replay.files)
		exit = usage(argv[0], "no PCAP given");
	if (exit < 0 && !replay.offline && !replay.has_port)
		exit = usage(argv[0], "no --port DEVICE given");
	if (exit < 0)
		exit = replay.offline ? offline_start(&replay, &a) : replay_start(&replay, &a);
	arguments_free(&a);
	replay_arguments_free(&replay);
	return exit;
}

static int simulate_start(struct config *config, const struct arguments *a)
{
	struct simulate_options options = {
		.report = a->report ? a->report : config->report_json,
		.pcap = a->pcap,
		.format = a->format,
		.quiet = a->quiet,
		.engine = &engine,
	};
	enum exit_code exit;
	struct err err = {.exit = EXIT_ENVIRONMENT};

	return simulate(config, &options, &exit, &err) ? fail(&err) : (int)exit;
}

static int command_simulate(int argc, char **argv)
{
	static const struct option options[] = {
		{"duration", required_argument, NULL, OPTION_DURATION},
		{"report", required_argument, NULL, OPTION_REPORT},
		{"pcap", required_argument, NULL, OPTION_PCAP},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"quiet", no_argument, NULL, 'q'},
		{"set", required_argument, NULL, OPTION_SET},
		{"help", no_argument, NULL, 'h'},
		{0},
	};

	return command_on_file(argc, argv, options, simulate_start);
}

static int check_start(struct config *config, const struct arguments *a)
{
	struct conversation_set conversations;
	struct err err = {.exit = EXIT_ENVIRONMENT};
	int exit = 0;

	if (conversation_set_open(&conversations, config, stderr, &err))
		exit = fail(&err);
	else
		plan_print(config, conversations.result, a->json, stdout);
	conversation_set_close(&conversations);
	return exit ? exit : output_end(EXIT_PASS);
}

static int command_check(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, OPTION_JSON},
		{"duration", required_argument, NULL, OPTION_DURATION},
		{"set", required_argument, NULL, OPTION_SET},
		{"help", no_argument, NULL, 'h'},
		{0},
	};

	return command_on_file(argc, argv, options, check_start);
}

/* The commands that take no FILE. */
static int arguments_read_plain(struct arguments *a, const struct option *options, int argc,
				char **argv)
{
	int exit = arguments_read(a, options, argc, argv);

	if (exit < 0 && a->file)
		exit = usage(argv[0], "unexpected argument '%s'", a->file);
	arguments_free(a);
	return exit;
}

/* The format is a word in front of FILE. */
static int command_convert(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	struct arguments a;
	int exit;

	if (argc > 1 && *argv[1] != '-') {
		if (strcmp(argv[1], "dperf") != 0)
			return usage(argv[0], "unknown format '%s', expected dperf", argv[1]);
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	exit = arguments_read(&a, options, argc, argv);
	if (exit < 0 && !a.file)
		exit = usage(argv[0], "expected dperf and a FILE");
	else if (exit < 0)
		exit = convert_dperf(a.file, stdout, stderr) ? EXIT_USAGE : output_end(EXIT_PASS);
	arguments_free(&a);
	return exit;
}

/* The page of a report, as a text, into a file. */
static int page_store(const char *report, const char *path, struct err *err)
{
	struct json_file *file = json_open(report, stderr);
	const char *fault;
	char *text = NULL;
	size_t size;
	FILE *out;
	int failed;

	if (!file)
		return EXIT_USAGE;
	fault = page_fault(json_root(file));
	out = fault ? NULL : open_memstream(&text, &size);
	if (out)
		page_write(out, json_root(file));
	if (fault)
		failed = err_set(err, EXIT_USAGE, "%s: %s", report, fault);
	else if (!out || fclose(out))
		failed = err_set(err, EXIT_ENVIRONMENT, "out of memory");
	else
		failed = report_store(path, text, size, err);
	free(text);
	json_close(file);
	return failed ? fail(err) : EXIT_PASS;
}

static int command_report(int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct err err = {.exit = EXIT_ENVIRONMENT};
	struct arguments a;
	int exit = arguments_read(&a, options, argc, argv);

	if (exit < 0 && !a.file)
		exit = usage(argv[0], "no REPORT given");
	else if (exit < 0 && !a.output)
		exit = usage(argv[0], "expected -o and where the page is to go");
	else if (exit < 0)
		exit = page_store(a.file, a.output, &err);
	arguments_free(&a);
	return exit;
}

static int command_devices(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, OPTION_JSON},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct arguments a;
	struct err err = {.exit = EXIT_ENVIRONMENT};
	int exit = arguments_read_plain(&a, options, argc, argv);

	if (exit >= 0)
		return exit;
	return output_end(devices_print(stdout, a.json, &err) ? fail(&err) : EXIT_PASS);
}

static int command_schema(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	struct arguments a;
	int exit = arguments_read_plain(&a, options, argc, argv);

	if (exit >= 0)
		return exit;
	config_schema(stdout);
	return output_end(EXIT_PASS);
}

static int command_help(int argc, char **argv);

#define HELP_FILE                                                                  \
	"FILE is JSON, // and /* */ comments allowed; '-' reads standard input.\n" \
	"'onager schema' prints what may stand in it.\n\n"

#define HELP_SET                                                                           \
	"  --set PATH=VALUE   change the configuration: VALUE is JSON, PATH as in error\n" \
	"                     messages; may be given several times\n"

static const struct command command[] = {
	{"run", command_run, "generate the load, report, judge",
	 "Usage: onager run FILE [OPTION]...\n\n"
	 "Generate the load that FILE describes; show counters every interval, then the result\n"
	 "and a verdict. " HELP_FILE HELP_SET
	 "  --duration D       of the steady phase instead of FILE's, e.g. 10s, 5m\n"
	 "  --report FILE      write the JSON report there ('-': standard output)\n"
	 "  --format FORMAT    of the intervals: text (default), json or csv, one line each\n"
	 "  -q, --quiet        no intervals, only the result\n"
	 "  -h, --help\n\n"
	 "Exit status: 0 pass; 1 fail; 2 configuration; 3 invalid (the generator was the limit, "
	 "or\n"
	 "was interrupted too early); 4 environment (device, memory, permission, gateway).\n"
	 "SIGINT, SIGTERM and SIGHUP end the run in order, with a report; a second one at once.\n\n"
	 "Examples:\n"
	 "  onager run conf/loop-http-cps.json --duration 5s\n"
	 "  onager run lab.json --set traffic.0.load.cps=5000 --report out.json\n"
	 "  onager run lab.json --format csv >intervals.csv\n"
	 "  onager run lab.json --quiet --report - | jq .verdict\n"},
	{"simulate", command_simulate, "run on a simulated network, in virtual time",
	 "Usage: onager simulate FILE [OPTION]...\n\n"
	 "Run what FILE describes with its ports joined two by two by simulated wires, under a\n"
	 "virtual clock: no device, no root, as fast as it goes. The key `network` says what the\n"
	 "wires do: rate, delay, jitter, queue, loss, reordering, duplication, corruption. The "
	 "same\n"
	 "file and seed give the same report and capture, byte by byte. " HELP_FILE HELP_SET
	 "  --duration D       of the steady phase instead of FILE's, e.g. 10s, 5m\n"
	 "  --report FILE      write the JSON report there ('-': standard output)\n"
	 "  --pcap FILE        write every packet there as it is put on its wire (pcapng), with\n"
	 "                     virtual times and, as comments, what befell it\n"
	 "  --format FORMAT    of the intervals: text (default), json or csv, one line each\n"
	 "  -q, --quiet        no intervals, only the result\n"
	 "  -h, --help\n\n"
	 "Exit status: as that of run.\n\n"
	 "Examples:\n"
	 "  onager simulate conf/simulate-loss.json\n"
	 "  onager simulate lab.json --set network.loss=0.01 --set network.delay=50ms --pcap "
	 "a.pcapng\n"},
	{"replay", command_replay, "send recordings again",
	 "Usage: onager replay PCAP... --port DEVICE [OPTION]...\n"
	 "       onager replay --offline CONFIG PCAP -o OUT [--set PATH=VALUE]...\n\n"
	 "Send the packets of recordings (pcap or pcapng, plain, gzip or zstd; '-' is standard\n"
	 "input) at the recorded times, or as the options say, and report what was sent, how\n"
	 "punctually, and what was not and why. It is a run of a configuration with one port and\n"
	 "one traffic entry of kind \"replay\": every key of that kind is an option.\n\n"
	 "With --offline nothing is sent: the packets go into the engines of CONFIG's first port,\n"
	 "such as a server, under a virtual clock that is the recording's, and the answers into\n"
	 "OUT (pcapng). The same recording, file and seed give the same answers, byte by byte.\n\n"
	 "  -o, --output FILE  with --offline: where the answers go\n"
	 "  --report FILE      write the JSON report there ('-': standard output)\n"
	 "  --format FORMAT    of the intervals: text (default), json or csv, one line each\n"
	 "  -q, --quiet        no intervals, only the result\n" HELP_SET "  -h, --help\n\n"
	 "Exit status: as that of run; 2 also when there is nothing to send.\n\n"
	 "Examples:\n"
	 "  onager replay lab.pcap --port if:eth1\n"
	 "  onager replay a.pcap b.pcapng.gz --port 0000:07:00.0 --topspeed --loop 100\n"
	 "  onager replay lab.pcap --port if:eth1 --speed 2 --max-gap 1s --filter 'tcp port 80'\n"},
	{"check", command_check, "check a configuration and print the plan",
	 "Usage: onager check FILE [OPTION]...\n\n"
	 "Check FILE and print what a run would do and need: addresses, tuples, memory, cores,\n"
	 "packets. No hardware is touched. " HELP_FILE HELP_SET
	 "  --duration D       of the steady phase instead of FILE's\n"
	 "  --json             the plan as JSON\n"
	 "  -h, --help\n\n"
	 "Exit status: 0 the configuration is good; 2 it is not, one line on standard error for\n"
	 "each fault.\n\n"
	 "Examples:\n"
	 "  onager check lab.json\n"
	 "  onager check lab.json --set 'ports.0.cores=\"0-3\"' --json | jq .memory\n"},
	{"report", command_report, "show a report as a page",
	 "Usage: onager report REPORT.json -o OUT.html\n\n"
	 "Make a page of the report that a run wrote: verdict and reasons, what was wanted and\n"
	 "what became of it, latencies, charts over time, counters. One file, which needs nothing\n"
	 "else and holds no script. '-' is standard input or output.\n\n"
	 "  -o, --output FILE  where the page goes\n"
	 "  -h, --help\n\n"
	 "Exit status: 0 written; 2 REPORT is none, or no report; 4 the page cannot be written.\n\n"
	 "Examples:\n"
	 "  onager report out.json -o out.html\n"
	 "  onager run lab.json --quiet --report - | onager report - -o lab.html\n"},
	{"convert", command_convert, "translate a configuration of dperf",
	 "Usage: onager convert dperf FILE\n\n"
	 "Print the configuration that means the same as dperf's FILE ('-': standard input), its\n"
	 "comments kept. What has no equivalent is listed on standard error, one line each, and\n"
	 "stands as a comment at its place.\n\n"
	 "  -h, --help\n\n"
	 "Exit status: 0 translated; 2 FILE is wrong, one line on standard error for each "
	 "fault.\n\n"
	 "Example:\n"
	 "  onager convert dperf client.conf >client.json && onager check client.json\n"},
	{"devices", command_devices, "list what packets can be sent through",
	 "Usage: onager devices [--json]\n\n"
	 "List network devices: name, driver, NUMA node, link, queues, offloads, and how to use\n"
	 "each in a configuration; and the state of hugepages.\n\n"
	 "  --json             as JSON\n"
	 "  -h, --help\n\n"
	 "Example:\n"
	 "  onager devices --json | jq -r '.interfaces[].name'\n"},
	{"schema", command_schema, "print the JSON Schema of the configuration",
	 "Usage: onager schema\n\n"
	 "Print the JSON Schema of the configuration, for editors and validators.\n\n"
	 "Example:\n"
	 "  onager schema >onager.schema.json\n"},
	{"help", command_help, "explain a command",
	 "Usage: onager help [COMMAND]\n\n"
	 "Explain a command, or list them all.\n"},
};
#define COMMANDS (sizeof command / sizeof *command)

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(command[i].name, name))
			return &command[i];
	return NULL;
}

static void help_print(const struct command *about)
{
	fputs(about->help, stdout);
	if (about->run != command_replay)
		return;
	fputs("\nOptions that are keys of the configuration:\n", stdout);
	replay_arguments_help(stdout);
}

static void overview_print(FILE *out)
{
	fputs("Onager load-tests networks: real TCP and HTTP at millions of connections a second,\n"
	      "and a verdict that tells the device under test from the tester.\n\n"
	      "Usage: onager COMMAND [ARGUMENT]...\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", command[i].name, command[i].summary);
	fputs("\n'onager help COMMAND' explains a command; --version prints the version.\n"
	      "Try: onager run conf/loop-http-cps.json\n",
	      out);
}

static int command_help(int argc, char **argv)
{
	const struct command *about = argc > 1 ? command_find(argv[1]) : NULL;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		about = command_find("help");
	if (argc > 2)
		return usage(NULL, "unexpected argument '%s'", argv[2]);
	if (argc > 1 && !about)
		return usage(NULL, "unknown command '%s'", argv[1]);
	if (about)
		help_print(about);
	else
		overview_print(stdout);
	return output_end(EXIT_PASS);
}

/* A standard descriptor that is closed would be the next file opened - a device, the report - and
 * take what is printed. This one can be opened, and neither written nor read. */
static void descriptors_fill(void)
{
	int fd;

	do
		fd = open("/", O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct command *chosen;

	descriptors_fill();
	signal(SIGPIPE, SIG_IGN);
	opterr = 0;
	if (argc < 2) {
		overview_print(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return command_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("onager " ONAGER_VERSION);
		return output_end(EXIT_PASS);
	}
	chosen = command_find(argv[1]);
	if (!chosen)
		return usage(NULL, "unknown command '%s'", argv[1]);
	errno = 0; /* for output_end() */
	return chosen->run(argc - 1, argv + 1);
}
