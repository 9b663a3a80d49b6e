#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Texts ---- */

static const char *skip_quoted(const char *at)
{
	char quote = *at++;
	while (*at && *at != quote)
		at++;
	return *at ? at + 1 : at;
}

/* Behind a comment that begins here; NULL when none does. */
static const char *skip_comment(const char *at)
{
	if (at[0] == '-' && at[1] == '-') {
		while (*at && *at != '\n')
			at++;
		return at;
	}
	if (at[0] != '/' || at[1] != '*')
		return NULL;
	int depth = 0;
	do {
		int opens = at[0] == '/' && at[1] == '*', closes = at[0] == '*' && at[1] == '/';
		depth += opens - closes;
		at += opens || closes ? 2 : 1;
	} while (*at && depth > 0);
	return at;
}

size_t statement_length(const char *text)
{
	for (const char *at = text; *at;) {
		const char *behind = skip_comment(at);
		if (behind)
			at = behind;
		else if (*at == '\'' || *at == '"' || *at == '`')
			at = skip_quoted(at);
		else if (*at++ == ';')
			return (size_t)(at - text);
	}
	return 0;
}

bool is_blank(const char *text)
{
	while (*text) {
		const char *behind = skip_comment(text);
		if (behind)
			text = behind;
		else if (strchr(" \t\r\n;", *text))
			text++;
		else
			return false;
	}
	return true;
}

/* ---- Running ---- */

static nk_cancellation *volatile running;

static void on_interrupt(int signal_number)
{
	nk_cancellation *flag = running;
	if (flag) {
		nk_cancellation_raise(flag);
	} else {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
}

void watch_interrupts(void)
{
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

/* ---- Progress: one line of the terminal that errors go to ---- */

enum { LINE_MOST = 160 };
static bool has_shown;

static bool on_progress(const nk_progress *progress, void *data)
{
	char line[LINE_MOST + 1];
	struct winsize size;
	(void)data;
	if (progress->seconds < 1)
		return true;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
	nk_progress_line(progress, width < LINE_MOST ? width : LINE_MOST, line);
	fprintf(stderr, "\r%s\x1b[K", line);
	fflush(stderr);
	has_shown = true;
	return true;
}

static void erase_progress(void)
{
	if (has_shown)
		fputs("\r\x1b[K", stderr);
	has_shown = false;
}

static nk_query_options query_options(void)
{
	nk_query_options options = NK_OPTIONS(nk_query_options);
	const char *wanted = getenv("NANUK_PROGRESS");
	if (wanted && *wanted ? strcmp(wanted, "0") != 0 : isatty(STDERR_FILENO))
		options.progress = on_progress;
	return options;
}

/* Until end() Ctrl-C ends what this thread asks the library for. */
static nk_status begin(nk_error *err)
{
	nk_cancellation *flag;
	nk_status status = nk_cancellation_new(&flag, err);
	if (status != NK_OK)
		return status;
	nk_cancellation_watch(flag);
	running = flag;
	return NK_OK;
}

static void end(void)
{
	nk_cancellation *flag = running;
	running = NULL;
	nk_cancellation_watch(NULL);
	nk_cancellation_free(flag);
}

void check_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	if (errno != EPIPE)
		fprintf(stderr, "nanuk: cannot write: %s\n", strerror(errno));
	_exit(errno == EPIPE ? 0 : 1);
}

static bool complain(const nk_error *err)
{
	check_output();
	fprintf(stderr, "error: %s\n", err->message);
	return false;
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static nk_status show_plan(shell *self, nk_plan *plan, nk_error *err)
{
	char *text;
	nk_query_options options = query_options();
	nk_status status = self->analyze ? nk_plan_analyze(plan, &options, NULL, &text, err)
	                                 : nk_plan_explain(plan, NULL, true, false, &options, &text, err);
	erase_progress();
	if (status != NK_OK)
		return status;
	fputs(text, stdout);
	nk_text_free(text);
	return NK_OK;
}

static nk_status fail(nk_error *err, nk_status code, const char *what, const char *path)
{
	*err = (nk_error){.code = code};
	snprintf(err->message, sizeof err->message, "%s '%s': %s", what, path, strerror(errno));
	return code;
}

static nk_status write_result(shell *self, nk_plan *plan, nk_error *err)
{
	nk_frame *frame = NULL;
	nk_query_options options = query_options();
	bool is_file = self->output && self->as == FORMAT_PARQUET;
	nk_status status = is_file ? nk_plan_sink_parquet(plan, self->output, NULL, &options, err)
	                           : nk_plan_collect(plan, &options, &frame, err);
	erase_progress();
	if (is_file)
		return status;
	if (status != NK_OK)
		return status;
	/* Statements without an answer show nothing. */
	bool shows = nk_frame_width(frame) > 0 || nk_frame_height(frame) > 0;
	FILE *out = stdout;
	if (shows && self->output && !(out = fopen(self->output, "w")))
		status = fail(err, NK_IO, "cannot write", self->output);
	if (status == NK_OK && shows)
		status = write_frame(out, frame, self->as, self->max_rows, err);
	if (out && out != stdout && (fclose(out) != 0) && status == NK_OK)
		status = fail(err, NK_IO, "cannot write", self->output);
	nk_frame_unref(frame);
	return status;
}

static nk_status execute(shell *self, const char *text, nk_error *err)
{
	nk_plan *plan;
	nk_status status = nk_sql_context_execute(self->context, text, &plan, err);
	if (status != NK_OK)
		return status;
	status = self->explain || self->analyze ? show_plan(self, plan, err) : write_result(self, plan, err);
	nk_plan_unref(plan);
	return status;
}

static bool run_statement(shell *self, const char *text)
{
	nk_error err;
	double start = seconds();
	nk_status status = begin(&err);
	if (status == NK_OK) {
		status = execute(self, text, &err);
		end();
	}
	if (status != NK_OK)
		return complain(&err);
	check_output();
	if (self->timer)
		fprintf(stderr, "%.3f s\n", seconds() - start);
	return true;
}

bool run_text(shell *self, const char *text)
{
	while (!is_blank(text)) {
		text += strspn(text, " \t\r\n;");
		size_t n = statement_length(text);
		if (n == 0)
			n = strlen(text);
		char *statement = strndup(text, n);
		if (!statement) {
			fprintf(stderr, "nanuk: out of memory\n");
			return false;
		}
		bool good = is_blank(statement) || run_statement(self, statement);
		free(statement);
		if (!good)
			return false;
		text += n;
	}
	return true;
}

/* ---- Files ---- */

/* 'path' as a literal of SQL. */
static char *quoted(const char *before, const char *path, const char *after)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return NULL;
	fprintf(out, "%s'", before);
	for (; *path; path++) {
		if (*path == '\'')
			fputc('\'', out);
		fputc(*path, out);
	}
	fprintf(out, "'%s", after);
	fclose(out);
	return text;
}

static nk_status collect_text(shell *self, const char *before, const char *path, const char *after,
                              nk_frame **out, nk_error *err)
{
	char *text = quoted(before, path, after);
	nk_plan *plan;
	if (!text)
		return fail(err, NK_OUT_OF_MEMORY, "no memory for", path);
	nk_status status = nk_sql_context_execute(self->context, text, &plan, err);
	free(text);
	if (status != NK_OK)
		return status;
	status = nk_plan_collect(plan, NULL, out, err);
	nk_plan_unref(plan);
	return status;
}

static void print_size(long long n_bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)n_bytes;
	int unit = 0;
	while (size >= 1024 && unit < 4) {
		size /= 1024;
		unit++;
	}
	printf(unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static nk_status describe_file(shell *self, const char *path, nk_error *err)
{
	nk_frame *count = NULL, *first = NULL;
	nk_series *series = NULL;
	nk_value n_rows = {0};
	nk_status status = collect_text(self, "select count(*) from ", path, "", &count, err);
	if (status == NK_OK)
		status = nk_frame_column(count, 0, &series, err);
	if (status == NK_OK)
		status = nk_series_get(series, 0, &n_rows, err);
	if (status == NK_OK)
		status = collect_text(self, "select * from ", path, " limit 10", &first, err);
	if (status == NK_OK) {
		struct stat file;
		printf("%s: %lld rows, %d columns", path, (long long)n_rows.low, nk_frame_width(first));
		if (stat(path, &file) == 0 && S_ISREG(file.st_mode)) {
			printf(", ");
			print_size((long long)file.st_size);
		}
		printf("\n");
		int widest = 0;
		for (int i = 0; i < nk_frame_width(first); i++) {
			int n = (int)strlen(nk_frame_name(first, i));
			widest = n > widest && n <= 40 ? n : widest;
		}
		for (int i = 0; i < nk_frame_width(first); i++)
			printf("  %-*s  %s\n", widest, nk_frame_name(first, i), nk_frame_dtype(first, i));
		status = write_frame(stdout, first, self->as, self->max_rows, err);
	}
	nk_series_unref(series);
	nk_frame_unref(count);
	nk_frame_unref(first);
	return status;
}

bool show_file(shell *self, const char *path)
{
	nk_error err;
	nk_status status = begin(&err);
	if (status == NK_OK) {
		status = describe_file(self, path, &err);
		end();
	}
	if (status != NK_OK)
		return complain(&err);
	check_output();
	return true;
}
