/* Progress as one line of a terminal. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"

static void append_short(char *out, size_t n_room, double n, const char *what)
{
	static const char *const units[] = {"", "k", "M", "G", "T"};
	int unit = 0;
	while (n >= 999.5 && unit < NK_COUNT(units) - 1) {
		n /= 1000;
		unit++;
	}
	size_t at = strlen(out);
	snprintf(out + at, n_room - at, unit && n < 99.95 ? "%.1f%s%s" : "%.0f%s%s", n, units[unit], what);
}

void nk_progress_line(const nk_progress *progress, int width, char *out)
{
	enum { BAR = 30, ROOM = 200 };
	char line[ROOM] = "";
	if (progress->fraction >= 0) {
		double fraction = NK_MIN(progress->fraction, 1.0);
		int n_full = (int)(fraction * BAR);
		line[0] = '[';
		for (int i = 0; i < BAR; i++)
			line[1 + i] = i < n_full ? '#' : '.';
		snprintf(line + 1 + BAR, ROOM - 1 - BAR, "] %3.0f%%  ", fraction * 100);
	} else {
		snprintf(line, ROOM, "%c  ", "|/-\\"[(int)(progress->seconds * 4) & 3]);
	}
	if (progress->n_steps > 1) {
		size_t at = strlen(line);
		snprintf(line + at, ROOM - at, "step %d of %d, ", progress->step, progress->n_steps);
	}
	append_short(line, ROOM, (double)progress->n_rows, " rows read, ");
	append_short(line, ROOM, (double)progress->n_bytes, "B held, ");
	size_t at = strlen(line);
	snprintf(line + at, ROOM - at, "%.0f s", progress->seconds);
	snprintf(out, (size_t)NK_MAX(width, 0) + 1, "%s", line);
}
