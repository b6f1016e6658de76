#ifndef VITRINE_CSQLITE_H
#define VITRINE_CSQLITE_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT casts -1 to a function pointer, which Swift does not import. */
static inline int vitrine_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

static inline int vitrine_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/* sqlite3_db_config is variadic. */
static inline int vitrine_sqlite3_db_config(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

/* sqlite3_config is variadic. */
static inline int vitrine_sqlite3_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* This macro contains a shift, which Swift does not import. */
static inline int vitrine_sqlite3_corrupt_vtab(void) { return SQLITE_CORRUPT_VTAB; }

#endif
