/* nanuk: SQL over files from the command line. Front end of libnanuk: it sees nanuk.h only. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

static const char usage[] =
	"usage: nanuk [options] [FILE | QUERY]...\n"
	"\n"
	"  nanuk x.parquet                          schema, size and first rows of files\n"
	"  nanuk \"select a, b from 'x.parquet'\"     the answer to a query\n"
	"  nanuk -f script.sql                      all statements of a script\n"
	"  nanuk < script.sql\n"
	"  nanuk                                    a session, at a terminal\n"
	"\n"
	"  -f, --file FILE       run a script (- is standard input)\n"
	"  -m, --format FORMAT   box, csv, json, ndjson, markdown or parquet (with -o); else by -o's name, else "
	"box\n"
	"  -o, --output FILE     write the answer of the last statement to a file\n"
	"  -n, --rows N          rows that a box shows at most, 0 for all (40 at a terminal, else all)\n"
	"      --explain         show the plan instead of running it\n"
	"      --analyze         run it, and show what bound it and what every step did\n"
	"      --timer           how long statements take, on standard error\n"
	"  -h, --help\n"
	"      --version\n"
	"\n"
	"The exit status is 0, 1 after an error, 2 for options that are not understood.\n";

char *read_file(const char *path)
{
	bool is_standard = strcmp(path, "-") == 0;
	FILE *in = is_standard ? stdin : fopen(path, "r");
	if (!in) {
		fprintf(stderr, "nanuk: cannot read '%s': %s\n", path, strerror(errno));
		return NULL;
	}
	char *text = NULL, block[1 << 16];
	size_t n, size;
	FILE *out = open_memstream(&text, &size);
	while (out && (n = fread(block, 1, sizeof block, in)) > 0)
		fwrite(block, 1, n, out);
	bool failed = ferror(in);
	if (out)
		fclose(out);
	if (!is_standard)
		fclose(in);
	if (!failed && text)
		return text;
	fprintf(stderr, "nanuk: cannot read '%s': %s\n", path, failed ? strerror(errno) : "out of memory");
	free(text);
	return NULL;
}

/* What a word on the command line means: a file when there is one of that name, a query when it has blanks. */
static bool is_query(const char *word) { return access(word, F_OK) != 0 && strpbrk(word, " \t\n") != NULL; }

static bool run_script(shell *self, const char *path)
{
	char *text = read_file(path);
	bool good = text && run_text(self, text);
	free(text);
	return good;
}

int main(int argc, char **argv)
{
	enum { EXPLAIN = 256, ANALYZE, TIMER, VERSION };
	static const struct option options[] = {
		{"file", required_argument, NULL, 'f'},   {"format", required_argument, NULL, 'm'},
		{"output", required_argument, NULL, 'o'}, {"rows", required_argument, NULL, 'n'},
		{"explain", no_argument, NULL, EXPLAIN},  {"analyze", no_argument, NULL, ANALYZE},
		{"timer", no_argument, NULL, TIMER},      {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, VERSION},  {NULL, 0, NULL, 0},
	};
	bool at_terminal = isatty(STDOUT_FILENO);
	shell self = {.as = FORMAT_BOX, .max_rows = at_terminal ? 40 : -1};
	const char *script = NULL;
	int as = -1, option;
	while ((option = getopt_long(argc, argv, "f:m:o:n:h", options, NULL)) != -1) {
		switch (option) {
		case 'f': script = optarg; break;
		case 'm':
			if ((as = format_of_name(optarg)) < 0) {
				fprintf(stderr, "nanuk: no format '%s': box, csv, json, ndjson, markdown, parquet\n", optarg);
				return 2;
			}
			break;
		case 'o': self.output = optarg; break;
		case 'n': self.max_rows = atoi(optarg) > 0 ? atoi(optarg) : -1; break;
		case EXPLAIN: self.explain = true; break;
		case ANALYZE: self.analyze = true; break;
		case TIMER: self.timer = true; break;
		case 'h': fputs(usage, stdout); return 0;
		case VERSION: printf("nanuk %s\n", nk_version()); return 0;
		default: fputs("nanuk --help lists the options\n", stderr); return 2;
		}
	}
	if (as < 0 && self.output)
		as = format_of_path(self.output);
	if (as >= 0)
		self.as = (format)as;
	if (self.as == FORMAT_PARQUET && !self.output) {
		fputs("nanuk: Parquet goes to a file: -o FILE\n", stderr);
		return 2;
	}
	nk_error err;
	if (nk_sql_context_new(&self.context, &err) != NK_OK) {
		fprintf(stderr, "error: %s\n", err.message);
		return 1;
	}
	watch_interrupts();
	bool good = !script || run_script(&self, script);
	for (int i = optind; i < argc && good; i++)
		good = is_query(argv[i]) ? run_text(&self, argv[i]) : show_file(&self, argv[i]);
	int code = good ? 0 : 1;
	if (good && !script && optind == argc)
		code = isatty(STDIN_FILENO) && at_terminal ? run_session(&self) : run_script(&self, "-") ? 0 : 1;
	nk_sql_context_free(self.context);
	check_output();
	return code;
}
