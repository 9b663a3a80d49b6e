/* A session at a terminal: lines are edited with a history (libedit), statements end with a semicolon and may run over
 * many lines, and words that begin with a dot are for the shell itself. */
#include "session.h"

#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool continues; /* the prompt of a statement's later lines */

static char *prompt(EditLine *line)
{
	static char first[] = "nanuk> ", later[] = "  ...> ";
	(void)line;
	return continues ? later : first;
}

static void help(void)
{
	puts("Statements end with a semicolon. Files are tables: select * from 'x.parquet';\n"
	     ".tables            names of the tables\n"
	     ".schema NAME       columns and dtypes of a table or a file\n"
	     ".mode FORMAT       box, csv, json, ndjson or markdown\n"
	     ".rows N            rows that a box shows at most; 0 for all\n"
	     ".timer on|off      how long statements take\n"
	     ".read FILE         run a script\n"
	     ".quit              leave, as Ctrl-D does");
}

static void set_mode(shell *self, const char *name)
{
	int as = *name ? format_of_name(name) : -1;
	if (as < 0 || as == FORMAT_PARQUET)
		fprintf(stderr, "formats: box, csv, json, ndjson, markdown\n");
	else
		self->as = (format)as;
}

static void read_script(shell *self, const char *path)
{
	char *text = read_file(path);
	if (text)
		run_text(self, text);
	free(text);
}

/* A line that begins with a dot. False: leave. */
static bool command(shell *self, char *line)
{
	char *name = strtok(line, " \t\n"), *argument = strtok(NULL, "\n");
	if (!argument)
		argument = "";
	if (strcmp(name, ".quit") == 0 || strcmp(name, ".exit") == 0 || strcmp(name, ".q") == 0)
		return false;
	if (strcmp(name, ".help") == 0) {
		help();
	} else if (strcmp(name, ".tables") == 0) {
		run_text(self, "show tables;");
	} else if (strcmp(name, ".schema") == 0) {
		char text[1100];
		bool is_path = strchr(argument, '.') || strchr(argument, '/');
		snprintf(text, sizeof text, is_path ? "describe '%s';" : "describe \"%s\";", argument);
		run_text(self, text);
	} else if (strcmp(name, ".mode") == 0) {
		set_mode(self, argument);
	} else if (strcmp(name, ".rows") == 0) {
		int n = atoi(argument);
		self->max_rows = n > 0 ? n : -1;
	} else if (strcmp(name, ".timer") == 0) {
		self->timer = strcmp(argument, "off") != 0;
	} else if (strcmp(name, ".read") == 0) {
		read_script(self, argument);
	} else {
		fprintf(stderr, "no command %s; .help lists them\n", name);
	}
	return true;
}

static char *history_path(void)
{
	const char *given = getenv("NANUK_HISTORY"), *home = getenv("HOME");
	if (given)
		return strdup(given);
	char *path = NULL;
	if (home && asprintf(&path, "%s/.nanuk_history", home) < 0)
		path = NULL;
	return path;
}

typedef struct text {
	char *bytes;
	size_t n;
} text;

static bool append(text *to, const char *line)
{
	size_t n = strlen(line);
	char *grown = realloc(to->bytes, to->n + n + 1);
	if (!grown)
		return false;
	memcpy(grown + to->n, line, n + 1);
	to->bytes = grown;
	to->n += n;
	return true;
}

/* One line of history for a statement of many. */
static void remember(History *list, const text *statement)
{
	HistEvent event;
	char *line = strndup(statement->bytes, statement->n);
	if (!line)
		return;
	for (char *c = line; *c; c++)
		if (*c == '\n' && c[1])
			*c = ' ';
	history(list, &event, H_ENTER, line);
	free(line);
}

int run_session(shell *self)
{
	setlocale(LC_CTYPE, "");
	EditLine *line = el_init("nanuk", stdin, stdout, stderr);
	History *history_list = history_init();
	if (!line || !history_list) {
		fprintf(stderr, "nanuk: no terminal\n");
		return 1;
	}
	HistEvent event;
	char *path = history_path();
	history(history_list, &event, H_SETSIZE, 2000);
	history(history_list, &event, H_SETUNIQUE, 1);
	if (path)
		history(history_list, &event, H_LOAD, path);
	el_set(line, EL_PROMPT, prompt);
	el_set(line, EL_EDITOR, "emacs");
	el_set(line, EL_SIGNAL, 1);
	el_set(line, EL_HIST, history, history_list);
	el_source(line, NULL);
	printf("nanuk %s. Statements end with a semicolon; .help lists commands.\n", nk_version());

	text statement = {0};
	bool goes_on = true;
	while (goes_on) {
		int n = 0;
		continues = statement.n > 0;
		const char *got = el_gets(line, &n);
		if (!got || n <= 0) {
			if (continues) { /* Ctrl-D in the middle drops what was begun */
				statement.n = 0;
				putchar('\n');
				continue;
			}
			break;
		}
		if (!continues && *got == '.') {
			char *copy = strdup(got);
			history(history_list, &event, H_ENTER, got);
			goes_on = !copy || command(self, copy);
			free(copy);
			continue;
		}
		if (!append(&statement, got)) {
			fprintf(stderr, "nanuk: out of memory\n");
			break;
		}
		if (is_blank(statement.bytes)) {
			statement.n = 0;
			continue;
		}
		if (statement_length(statement.bytes) == 0)
			continue;
		remember(history_list, &statement);
		run_text(self, statement.bytes);
		statement.n = 0;
	}
	if (path)
		history(history_list, &event, H_SAVE, path);
	free(path);
	free(statement.bytes);
	history_end(history_list);
	el_end(line);
	putchar('\n');
	return 0;
}
