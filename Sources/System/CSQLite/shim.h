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

/* The default file system, and the copy of it that SQLite uses. */
struct vitrine_file_system {
    sqlite3_vfs *original;
    sqlite3_vfs copy;
};

static inline struct vitrine_file_system *vitrine_file_system(void) {
    static struct vitrine_file_system system;
    return &system;
}

static inline int vitrine_sqlite3_open_file(sqlite3_vfs *system, const char *name, sqlite3_file *file, int flags, int *result) {
    sqlite3_vfs *original = vitrine_file_system()->original;
    (void)system;
    if ((flags & SQLITE_OPEN_SUPER_JOURNAL) == 0) return original->xOpen(original, name, file, flags, result);
    file->pMethods = 0;
    return SQLITE_CANTOPEN;
}

/* A journal may name a super-journal, a file that SQLite deletes when it has rolled back the journal. A forged journal could
   name any file. Vitrine never writes to two databases in one transaction, so it needs no super-journals. */
static inline int vitrine_sqlite3_refuse_super_journals(void) {
    struct vitrine_file_system *system = vitrine_file_system();
    system->original = sqlite3_vfs_find(0);
    if (!system->original) return SQLITE_ERROR;
    system->copy = *system->original;
    system->copy.zName = "vitrine";
    system->copy.xOpen = vitrine_sqlite3_open_file;
    return sqlite3_vfs_register(&system->copy, 1);
}

/* This macro contains a shift, which Swift does not import. */
static inline int vitrine_sqlite3_corrupt_vtab(void) { return SQLITE_CORRUPT_VTAB; }

#endif
