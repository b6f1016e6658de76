// The least work for a first frame of a gallery: opens its database, reads 60 rows by date, and draws them with ncurses. Then it
// writes some bytes more, so that it writes as many as Vitrine. The benchmark `first-frame` compares both.
//
//     cc -O2 -o frame_limit frame_limit.c -lsqlite3 -lncursesw
//     frame_limit DATABASE BYTES
#define _XOPEN_SOURCE_EXTENDED 1
#include <curses.h>
#include <locale.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char query[] = "SELECT name, date FROM photo ORDER BY date, key LIMIT 60";

int main(int count, char **arguments) {
    if (count != 3) return 2;
    setlocale(LC_ALL, "");
    sqlite3 *database;
    sqlite3_stmt *statement;
    if (sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) return 1;
    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK) return 1;
    if (!initscr()) return 1;
    raw();
    noecho();
    for (int row = 0; sqlite3_step(statement) == SQLITE_ROW; row++) {
        char text[32];
        time_t seconds = sqlite3_column_int64(statement, 1) / 1000;
        strftime(text, sizeof text, "%a %e %b %Y  %H:%M", gmtime(&seconds));
        if (row >= LINES / 3) continue;
        mvaddnstr(row * 3, 12, (const char *)sqlite3_column_text(statement, 0), COLS - 12);
        mvaddstr(row * 3 + 1, 12, text);
    }
    refresh();
    size_t rest = strtoul(arguments[2], NULL, 10);
    char *spaces = malloc(rest + 1);
    if (!spaces) return 1;
    memset(spaces, ' ', rest);
    if (rest > 0 && write(STDOUT_FILENO, spaces, rest) < 0) return 1;
    for (;;) pause();
}
