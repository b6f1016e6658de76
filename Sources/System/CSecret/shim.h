// The keyring of the user's desktop, by way of libsecret, which is loaded when it is first needed and need not be there.
// What is declared here is its stable interface, version 1: a schema, and functions with variadic lists of attributes.

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

/// One attribute, a string: what the password is for.
static inline struct csecret_schema csecret_schema(void) {
    struct csecret_schema schema;
    memset(&schema, 0, sizeof schema);
    schema.name = "vitrine.Password";
    schema.attributes[0].name = "origin";
    return schema;
}

/// Loads the library; 0 where there is none. It stays: GLib cannot be unloaded.
static inline int csecret_load(const char *path, struct csecret *functions) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return 0;
    *(void **)&functions->store = dlsym(library, "secret_password_store_sync");
    *(void **)&functions->lookup = dlsym(library, "secret_password_lookup_sync");
    *(void **)&functions->free_password = dlsym(library, "secret_password_free");
    // Those of the libraries that it brings along; without them it can be asked all the same.
    *(void **)&functions->free_error = dlsym(library, "g_error_free");
    *(void **)&functions->make_cancellable = dlsym(library, "g_cancellable_new");
    *(void **)&functions->cancel = dlsym(library, "g_cancellable_cancel");
    return functions->store && functions->lookup && functions->free_password;
}

/// Something to end a question with that takes too long; NULL where there is none. It is never freed: who ends a question
/// and who asks it may hold it at the same time, and it is small.
static inline void *csecret_make_cancellable(const struct csecret *functions) {
    return functions->make_cancellable && functions->cancel ? functions->make_cancellable() : NULL;
}

static inline void csecret_cancel(const struct csecret *functions, void *cancellable) {
    if (cancellable) functions->cancel(cancellable);
}

/// Hands over an error's message, to be freed with free.
static inline void csecret_take(const struct csecret *functions, struct csecret_error *error, char **message) {
    if (!error) return;
    *message = strdup(error->message ? error->message : "");
    if (functions->free_error) functions->free_error(error);
}

/// Stores a password. Returns whether it did; if not, a message, to be freed.
static inline int csecret_store(
    const struct csecret *functions, const char *origin, const char *label, const char *password, void *cancellable,
    char **message) {
    struct csecret_schema schema = csecret_schema();
    struct csecret_error *error = NULL;
    int done = functions->store(&schema, "default", label, password, cancellable, &error, "origin", origin, NULL);
    csecret_take(functions, error, message);
    return done;
}

/// Looks a password up: a copy, to be freed with csecret_free; NULL if there is none, or with a message, to be freed.
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

/// Frees a password, and leaves nothing of it behind.
static inline void csecret_free(char *password) {
    if (!password) return;
    for (volatile char *byte = password; *byte; byte++) *byte = 0;
    free(password);
}

#endif
