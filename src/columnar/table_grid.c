/* Arranges and draws a grid. Columns that fit into an even share keep their width; what is left is shared by the
 * rest, after columns whose wrapped lines leave room have given it back; lines break at blanks, long words are cut
 * between characters. The order of these steps is that of comfy-table's dynamic arrangement, whose look users know
 * from Polars. */
#include <stdlib.h>
#include <string.h>

#include "columnar/display_width.h"
#include "columnar/table_internal.h"

/* ---- Formats ---- */

/* Strokes by place, a blank where there is none. */
enum stroke {
	LEFT,
	RIGHT,
	TOP,
	BOTTOM,
	HEADER_LEFT,
	HEADER,
	HEADER_CROSS,
	HEADER_RIGHT,
	VERTICAL,
	HORIZONTAL,
	CROSS,
	CROSS_LEFT,
	CROSS_RIGHT,
	CROSS_TOP,
	CROSS_BOTTOM,
	TOP_LEFT,
	TOP_RIGHT,
	BOTTOM_LEFT,
	BOTTOM_RIGHT,
	N_STROKES
};

static const struct format {
	const char *name;
	bool ascii;
	const char *strokes;
} formats[] = {
	{"UTF8_FULL_CONDENSED", false, "││──╞═╪╡┆    ┬┴┌┐└┘"},
	{"UTF8_FULL", false, "││──╞═╪╡┆╌┼├┤┬┴┌┐└┘"},
	{"UTF8_NO_BORDERS", false, "     ═╪ ┆╌┼        "},
	{"UTF8_BORDERS_ONLY", false, "││──╞══╡     ──┌┐└┘"},
	{"UTF8_HORIZONTAL_ONLY", false, "  ── ══  ──  ──    "},
	{"ASCII_FULL", true, "||--+==+|-+||++++++"},
	{"ASCII_FULL_CONDENSED", true, "||--+==+|    ++++++"},
	{"ASCII_NO_BORDERS", true, "     == |-+        "},
	{"ASCII_BORDERS_ONLY", true, "||--+==+   ||--++++"},
	{"ASCII_BORDERS_ONLY_CONDENSED", true, "||--+==+     --++++"},
	{"ASCII_HORIZONTAL_ONLY", true, "  -- ==  --  --    "},
	{"ASCII_MARKDOWN", true, "||  |-||| "},
	{"MARKDOWN", false, "||  |-||| "},
	{"NOTHING", false, " "},
};

static const struct format *find_format(const char *name)
{
	for (int i = 0; name && i < NK_COUNT(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return &formats[0];
}

bool nk__grid_is_ascii(const char *format) { return find_format(format)->ascii; }

/* ---- Lines ---- */

typedef struct line {
	const char *text;
	int64_t n_bytes;
	int64_t width;
} line;

typedef struct line_list {
	nk_text text; /* the bytes; lines[i].text is an offset until finished */
	int64_t *ends;
	int n_lines, capacity;
	bool failed;
} line_list;

static void line_list_release(line_list *list)
{
	nk_text_release(&list->text);
	free(list->ends);
}

static void line_list_clear(line_list *list)
{
	list->text.n_bytes = 0;
	list->n_lines = 0;
}

static void end_line(line_list *list)
{
	if (list->n_lines == list->capacity) {
		int capacity = list->capacity * 2 + 8;
		int64_t *larger = realloc(list->ends, (size_t)capacity * sizeof *larger);
		if (!larger) {
			list->failed = true;
			return;
		}
		list->ends = larger;
		list->capacity = capacity;
	}
	list->ends[list->n_lines++] = list->text.n_bytes;
}

static line line_at(const line_list *list, int i)
{
	int64_t begin = i ? list->ends[i - 1] : 0;
	const char *text = list->text.bytes ? list->text.bytes + begin : "";
	return (line){text, list->ends[i] - begin, nk_display_width(text, list->ends[i] - begin)};
}

/* A line that is this near to full takes no more. */
enum { FEW_COLUMNS = 2 };

/* Bytes of a word that fit into `width` columns. */
static int64_t fitting_bytes(const char *word, int64_t n_bytes, int64_t width)
{
	int64_t n = 0, used = 0;
	while (n < n_bytes) {
		int cluster_width, n_cluster = nk_cluster_read(word + n, n_bytes - n, &cluster_width);
		if (used + cluster_width > width)
			break;
		used += cluster_width;
		n += n_cluster;
	}
	return n;
}

static void wrap_line(line_list *out, const char *text, int64_t n_bytes, int64_t width)
{
	const char *end = text + n_bytes;
	int64_t current = 0; /* columns of the line being filled */
	bool fresh = true;   /* nothing in it */
	int64_t begin = out->text.n_bytes;
	bool more = true;
	while (more) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		const char *word_end = blank ? blank : end;
		int64_t n_word = word_end - text, word = nk_display_width(text, n_word);
		fresh = out->text.n_bytes == begin;
		int64_t added = current + word + !fresh;
		int64_t room = width - current - !fresh;
		if (added <= width) {
			if (!fresh)
				nk_text_append_char(&out->text, ' ');
			nk_text_append(&out->text, text, n_word);
			current = added;
			more = blank != NULL;
			text = blank ? blank + 1 : end;
			if (current <= width - FEW_COLUMNS)
				continue;
		} else if (!fresh && room <= FEW_COLUMNS) {
			/* Too little room to begin the word here. */
		} else if (word > width) {
			int64_t n_part = fitting_bytes(text, n_word, room);
			if (n_part == 0 && fresh) {
				int cluster_width;
				n_part = nk_cluster_read(text, n_word, &cluster_width);
			}
			if (!fresh)
				nk_text_append_char(&out->text, ' ');
			nk_text_append(&out->text, text, n_part);
			current += !fresh + nk_display_width(text, n_part);
			text += n_part;
			if (current <= width - FEW_COLUMNS)
				continue;
		}
		end_line(out);
		begin = out->text.n_bytes;
		current = 0;
	}
	if (out->text.n_bytes > begin)
		end_line(out);
}

/* A cell's lines, wrapped into `width` columns. */
static void wrap_cell(line_list *out, const grid_cell *cell, int64_t width)
{
	line_list_clear(out);
	for (const char *at = cell->text, *end = at + cell->n_bytes; at <= end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		if (nk_display_width(at, line_end - at) > width) {
			wrap_line(out, at, line_end - at, width);
		} else {
			nk_text_append(&out->text, at, line_end - at);
			end_line(out);
		}
		at = line_end + 1;
	}
}

/* ---- Arrangement ---- */

typedef struct layout {
	const nk_grid *grid;
	int64_t *widths;   /* without padding; -1 while open */
	int64_t *contents; /* the widest line of each column */
	int64_t n_left;    /* columns of the terminal for the open columns */
	int n_open;
	line_list scratch;
} layout;

static void layout_release(layout *l)
{
	free(l->widths);
	free(l->contents);
	line_list_release(&l->scratch);
}

static const grid_cell *cell_at(const nk_grid *grid, int row, int column)
{
	return &grid->cells[(int64_t)row * grid->n_columns + column];
}

static int64_t widest_line(const grid_cell *cell)
{
	int64_t widest = 0;
	for (const char *at = cell->text, *end = at + cell->n_bytes; at <= end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		int64_t width = nk_display_width(at, line_end - at);
		widest = NK_MAX(widest, width);
		at = line_end + 1;
	}
	return widest;
}

/* Settle a column's width. Returns the new even share of the open ones. */
static int64_t settle(layout *l, int column, int64_t width)
{
	l->widths[column] = width;
	l->n_left = NK_MAX(l->n_left - width, (int64_t)0);
	l->n_open--;
	return l->n_open ? l->n_left / l->n_open : 0;
}

static int64_t without_padding(int64_t width)
{
	return width > NK_GRID_PADDING ? width - NK_GRID_PADDING : 1;
}

static void settle_fitting(layout *l)
{
	bool found = true;
	while (found && l->n_open) {
		int64_t share = l->n_left / l->n_open;
		found = false;
		for (int i = 0; share > 0 && i < l->grid->n_columns && l->n_open; i++) {
			if (l->widths[i] >= 0)
				continue;
			int64_t most = l->grid->bounds ? l->grid->bounds[i].most : 0;
			if (most && share + NK_GRID_PADDING >= most && l->contents[i] + NK_GRID_PADDING >= most)
				share = settle(l, i, without_padding(most));
			else if (l->contents[i] <= share)
				share = settle(l, i, l->contents[i]);
			else
				continue;
			found = true;
		}
	}
}

static void enforce_least(layout *l)
{
	int64_t share = l->n_open ? l->n_left / l->n_open : 0;
	for (int i = 0; l->grid->bounds && i < l->grid->n_columns && l->n_open; i++) {
		int64_t least = l->grid->bounds[i].least;
		if (l->widths[i] < 0 && least && share < least)
			share = settle(l, i, without_padding(least));
	}
}

/* The longest line of a column once it is wrapped into `width`; in bytes, as where this layout comes from, so that
 * columns of non-ASCII text keep some room. */
static int64_t longest_wrapped(layout *l, int column, int64_t width)
{
	int64_t widest = 0;
	for (int row = 0; row < l->grid->n_rows; row++) {
		const grid_cell *cell = cell_at(l->grid, row, column);
		wrap_cell(&l->scratch, cell, width);
		for (int i = 0; i < l->scratch.n_lines; i++)
			widest = NK_MAX(widest, line_at(&l->scratch, i).n_bytes);
	}
	return widest;
}

/* So much unused room in wrapped lines is given to other columns. */
enum { ROOM_WORTH_TAKING = 3 };

static void give_room_back(layout *l)
{
	bool found = true;
	int64_t share = l->n_open ? l->n_left / l->n_open : 0;
	while (found && l->n_open) {
		found = false;
		for (int i = 0; i < l->grid->n_columns && l->n_open; i++) {
			if (l->widths[i] >= 0)
				continue;
			int64_t widest = longest_wrapped(l, i, NK_MAX(share, (int64_t)1));
			if (share - widest < ROOM_WORTH_TAKING)
				continue;
			share = settle(l, i, widest);
			found = true;
		}
	}
}

static void share_rest(layout *l)
{
	if (l->n_open == 0)
		return;
	int64_t share = l->n_left / l->n_open, excess = l->n_left % l->n_open;
	for (int i = 0; i < l->grid->n_columns; i++) {
		if (l->widths[i] >= 0)
			continue;
		l->widths[i] = NK_MAX(share + (excess > 0), (int64_t)1);
		excess -= excess > 0;
	}
}

typedef struct strokes {
	char bytes[N_STROKES][5];
	bool left, right, top, bottom, vertical, horizontal, header;
} strokes;

static nk_status arrange(layout *l, const nk_grid *grid, const strokes *s, nk_error *err)
{
	l->grid = grid;
	l->widths = malloc((size_t)grid->n_columns * sizeof *l->widths + 1);
	l->contents = calloc((size_t)grid->n_columns + 1, sizeof *l->contents);
	if (!l->widths || !l->contents)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to lay a table out");
	l->n_open = grid->n_columns;
	int64_t n_strokes = s->left + s->right + (s->vertical ? NK_MAX(grid->n_columns - 1, 0) : 0);
	l->n_left = grid->width == INT64_MAX ? INT64_MAX / 2 : grid->width;
	l->n_left = NK_MAX(l->n_left - n_strokes - (int64_t)grid->n_columns * NK_GRID_PADDING, (int64_t)0);
	for (int i = 0; i < grid->n_columns; i++) {
		l->widths[i] = -1;
		for (int row = 0; row < grid->n_rows; row++) {
			int64_t widest = widest_line(cell_at(grid, row, i));
			l->contents[i] = NK_MAX(l->contents[i], widest);
		}
	}
	for (int i = 0; grid->bounds && i < grid->n_columns; i++) {
		const grid_bounds *bounds = &grid->bounds[i];
		if (bounds->most && bounds->least == bounds->most)
			settle(l, i, without_padding(bounds->most));
		else if (bounds->least && l->contents[i] + NK_GRID_PADDING <= bounds->least)
			settle(l, i, without_padding(bounds->least));
	}
	enforce_least(l);
	settle_fitting(l);
	give_room_back(l);
	share_rest(l);
	return l->scratch.failed ? nk_fail(err, NK_OUT_OF_MEMORY, "no memory to lay a table out") : NK_OK;
}

/* ---- Drawing ---- */

static bool any(const strokes *s, const uint8_t *places, int n)
{
	for (int i = 0; i < n; i++)
		if (s->bytes[places[i]][0] != ' ')
			return true;
	return false;
}

static void read_strokes(strokes *s, const char *text, bool rounded)
{
	for (int i = 0; i < N_STROKES; i++) {
		uint32_t point;
		int n = *text ? nk_code_point_read(text, 4, &point) : 0;
		memcpy(s->bytes[i], n ? text : " ", n ? (size_t)n : 1);
		s->bytes[i][n ? n : 1] = 0;
		text += n;
	}
	if (rounded) {
		memcpy(s->bytes[TOP_LEFT], "╭", 4);
		memcpy(s->bytes[TOP_RIGHT], "╮", 4);
		memcpy(s->bytes[BOTTOM_LEFT], "╰", 4);
		memcpy(s->bytes[BOTTOM_RIGHT], "╯", 4);
	}
#define ANY(...) any(s, (const uint8_t[]){__VA_ARGS__}, (int)sizeof((const uint8_t[]){__VA_ARGS__}))
	s->left = ANY(TOP_LEFT, LEFT, CROSS_LEFT, HEADER_LEFT, BOTTOM_LEFT);
	s->right = ANY(TOP_RIGHT, RIGHT, CROSS_RIGHT, HEADER_RIGHT, BOTTOM_RIGHT);
	s->top = ANY(TOP_LEFT, TOP, CROSS_TOP, TOP_RIGHT);
	s->bottom = ANY(BOTTOM_LEFT, BOTTOM, CROSS_BOTTOM, BOTTOM_RIGHT);
	s->vertical = ANY(CROSS_TOP, HEADER_CROSS, VERTICAL, CROSS, CROSS_BOTTOM);
	s->horizontal = ANY(CROSS_LEFT, HORIZONTAL, CROSS, CROSS_RIGHT);
	s->header = ANY(HEADER_LEFT, HEADER, HEADER_CROSS, HEADER_RIGHT);
#undef ANY
}

/* A rule from border to border, `newline` first unless it is the first line. */
static void draw_rule(nk_text *out, const layout *l, const strokes *s, int left, int middle, int cross,
                      int right, int64_t begin)
{
	if (out->n_bytes > begin)
		nk_text_append_char(out, '\n');
	if (s->left)
		nk_text_append_string(out, s->bytes[left]);
	for (int i = 0; i < l->grid->n_columns; i++) {
		if (i)
			nk_text_append_string(out, s->bytes[cross]);
		for (int64_t k = 0; k < l->widths[i] + NK_GRID_PADDING; k++)
			nk_text_append_string(out, s->bytes[middle]);
	}
	if (s->right)
		nk_text_append_string(out, s->bytes[right]);
}

static void blanks(nk_text *out, int64_t n)
{
	for (; n > 0; n--)
		nk_text_append_char(out, ' ');
}

static void draw_line(nk_text *out, line text, int64_t width, nk_table_align align)
{
	int64_t room = NK_MAX(width - text.width, (int64_t)0);
	int64_t before = align == NK_ALIGN_RIGHT ? room : align == NK_ALIGN_CENTER ? (room + 1) / 2 : 0;
	blanks(out, before + 1);
	nk_text_append(out, text.text, text.n_bytes);
	blanks(out, room - before + 1);
}

static void draw_row(nk_text *out, const layout *l, const strokes *s, int row, line_list *cells,
                     int64_t begin)
{
	const nk_grid *grid = l->grid;
	int n_lines = 1;
	for (int i = 0; i < grid->n_columns; i++) {
		wrap_cell(&cells[i], cell_at(grid, row, i), l->widths[i]);
		n_lines = NK_MAX(n_lines, cells[i].n_lines);
	}
	for (int k = 0; k < n_lines; k++) {
		if (out->n_bytes > begin)
			nk_text_append_char(out, '\n');
		if (s->left)
			nk_text_append_string(out, s->bytes[LEFT]);
		for (int i = 0; i < grid->n_columns; i++) {
			if (i && s->vertical)
				nk_text_append_string(out, s->bytes[VERTICAL]);
			line text = k < cells[i].n_lines ? line_at(&cells[i], k) : (line){"", 0, 0};
			draw_line(out, text, l->widths[i], grid->aligns ? grid->aligns[i] : NK_ALIGN_DEFAULT);
		}
		if (s->right)
			nk_text_append_string(out, s->bytes[RIGHT]);
	}
}

nk_status nk__grid_draw(const nk_grid *grid, nk_text *out, nk_error *err)
{
	__attribute__((cleanup(layout_release))) layout l = {0};
	strokes s;
	const struct format *format = find_format(grid->format);
	read_strokes(&s, format->strokes, grid->rounded_corners && !format->ascii);
	NK_TRY(arrange(&l, grid, &s, err));
	line_list *cells = calloc((size_t)grid->n_columns + 1, sizeof *cells);
	if (!cells)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to draw a table");
	int64_t begin = out->n_bytes;
	bool failed = false;
	if (s.top)
		draw_rule(out, &l, &s, TOP_LEFT, TOP, CROSS_TOP, TOP_RIGHT, begin);
	for (int row = 0; row < grid->n_rows; row++) {
		if (row > grid->has_header && s.horizontal)
			draw_rule(out, &l, &s, CROSS_LEFT, HORIZONTAL, CROSS, CROSS_RIGHT, begin);
		if (grid->n_columns)
			draw_row(out, &l, &s, row, cells, begin);
		if (row == 0 && grid->has_header && s.header)
			draw_rule(out, &l, &s, HEADER_LEFT, HEADER, HEADER_CROSS, HEADER_RIGHT, begin);
	}
	if (s.bottom)
		draw_rule(out, &l, &s, BOTTOM_LEFT, BOTTOM, CROSS_BOTTOM, BOTTOM_RIGHT, begin);
	for (int i = 0; i < grid->n_columns; i++) {
		failed |= cells[i].failed || cells[i].text.failed;
		line_list_release(&cells[i]);
	}
	free(cells);
	return failed ? nk_fail(err, NK_OUT_OF_MEMORY, "no memory to draw a table") : NK_OK;
}
