// Access to the desktop's keyring through libsecret, which is optional and loaded on first use. This header declares
// its stable interface, version 1: a schema, and functions with variadic attribute lists.

#ifndef VITRINE_CSECRET_SHIM_H
#define VITRINE_CSECRET_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct csecret_schema {
    const char *name;
    int flags;
    struct {
        const char *name;
        int type;
    } attributes[32];
    int reserved;
    void *reserved_pointers[8];
};

struct csecret_error {
    unsigned domain;
    int code;
    char *message;
};

struct csecret {
    int (*store)(
        const struct csecret_schema *, const char *collection, const char *label, const char *password,
        void *cancellable, struct csecret_error **, ...);
    char *(*lookup)(const struct csecret_schema *, void *cancellable, struct csecret_error **, ...);
    void (*free_password)(char *);
    void (*free_error)(struct csecret_error *);
    void *(*make_cancellable)(void);
    void (*cancel)(void *);
};

/// Returns a schema with one string attribute: the place that the password is for.
static inline struct csecret_schema csecret_schema(void) {
    struct csecret_schema schema;
    memset(&schema, 0, sizeof schema);
    schema.name = "vitrine.Password";
    schema.attributes[0].name = "origin";
    return schema;
}

/// Loads the library. Returns 0 if it is missing. The library is never unloaded, because GLib cannot be.
static inline int csecret_load(const char *path, struct csecret *functions) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return 0;
    *(void **)&functions->store = dlsym(library, "secret_password_store_sync");
    *(void **)&functions->lookup = dlsym(library, "secret_password_lookup_sync");
    *(void **)&functions->free_password = dlsym(library, "secret_password_free");
    // Functions of its dependencies. Requests work without them.
    *(void **)&functions->free_error = dlsym(library, "g_error_free");
    *(void **)&functions->make_cancellable = dlsym(library, "g_cancellable_new");
    *(void **)&functions->cancel = dlsym(library, "g_cancellable_cancel");
    return functions->store && functions->lookup && functions->free_password;
}

/// Returns an object that can cancel a slow request. Returns NULL if unavailable. The object is small and never freed,
/// because two threads may hold it at the same time.
static inline void *csecret_make_cancellable(const struct csecret *functions) {
    return functions->make_cancellable && functions->cancel ? functions->make_cancellable() : NULL;
}

static inline void csecret_cancel(const struct csecret *functions, void *cancellable) {
    if (cancellable) functions->cancel(cancellable);
}

/// Passes an error's message to the caller, who must free it with free.
static inline void csecret_take(const struct csecret *functions, struct csecret_error *error, char **message) {
    if (!error) return;
    *message = strdup(error->message ? error->message : "");
    if (functions->free_error) functions->free_error(error);
}

/// Stores a password. Returns whether that succeeded. On failure, sets a message that the caller must free.
static inline int csecret_store(
    const struct csecret *functions, const char *origin, const char *label, const char *password, void *cancellable,
    char **message) {
    struct csecret_schema schema = csecret_schema();
    struct csecret_error *error = NULL;
    int done = functions->store(&schema, "default", label, password, cancellable, &error, "origin", origin, NULL);
    csecret_take(functions, error, message);
    return done;
}

/// Looks up a password. Returns a copy to free with csecret_free. Returns NULL if there is none, or on an error, with a
/// message to free.
static inline char *csecret_lookup(
    const struct csecret *functions, const char *origin, void *cancellable, char **message) {
    struct csecret_schema schema = csecret_schema();
    struct csecret_error *error = NULL;
    char *found = functions->lookup(&schema, cancellable, &error, "origin", origin, NULL);
    csecret_take(functions, error, message);
    char *copy = found ? strdup(found) : NULL;
    if (found) functions->free_password(found);
    return copy;
}

/// Overwrites and frees a password.
static inline void csecret_free(char *password) {
    if (!password) return;
    for (volatile char *byte = password; *byte; byte++) *byte = 0;
    free(password);
}

#endif
