// libxml2, made callable from Swift. It is loaded when the first gallery is read and not linked: it brings ICU and
// the C++ library with it, and a program that shows a file has no use for any of them.

#ifndef VITRINE_CLIBXML2_H
#define VITRINE_CLIBXML2_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

/* The functions that are used: what they are called here, and there. */
#define CXML_FUNCTIONS(each) \
    each(initialise, xmlInitParser) \
    each(begin, xmlCreatePushParserCtxt) \
    each(use_options, xmlCtxtUseOptions) \
    each(parse, xmlParseChunk) \
    each(last_error, xmlCtxtGetLastError) \
    each(stop, xmlStopParser) \
    each(count_names, xmlDictSize) \
    each(free, xmlFreeParserCtxt)

#define CXML_DECLARE(field, name) __typeof__(&name) field;
#define CXML_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct cxml_library {
    CXML_FUNCTIONS(CXML_DECLARE)
} cxml_library;

/* Finds the library, which stays loaded. Returns NULL, or why it cannot be used: dlerror(3), to be read at once.

   "xmlInitParser: Initialization function for the XML parser. This is not reentrant. Call once before processing in case of
   use in multithreaded programs." */
static inline const char *cxml_load(cxml_library *library, const char *name) {
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!(handle != NULL CXML_FUNCTIONS(CXML_FIND))) {
        const char *reason = dlerror();
        return reason != NULL ? reason : "a function is missing";
    }
    pthread_once(&initialised, library->initialise);
    return NULL;
}

/* Begins a document with its first bytes; NULL when memory is out. It has no name. */
static inline xmlParserCtxtPtr cxml_begin(
    const cxml_library *library, xmlSAXHandler *handler, void *context, const char *bytes, int count) {
    return library->begin(handler, context, bytes, count, NULL);
}

static inline int cxml_use_options(const cxml_library *library, xmlParserCtxtPtr parser, int options) {
    return library->use_options(parser, options);
}

static inline int cxml_parse(
    const cxml_library *library, xmlParserCtxtPtr parser, const char *bytes, int count, int is_last) {
    return library->parse(parser, bytes, count, is_last);
}

/* What is wrong, as the parser says; NULL if it says nothing. It is the parser's, which only reads it. */
static inline const xmlError *cxml_last_error(const cxml_library *library, xmlParserCtxtPtr parser) {
    return library->last_error(parser);
}

static inline void cxml_stop(const cxml_library *library, xmlParserCtxtPtr parser) {
    library->stop(parser);
}

static inline void cxml_free(const cxml_library *library, xmlParserCtxtPtr parser) {
    library->free(parser);
}

/* How many different names the parser has met, prefixes and addresses of namespaces included. */
static inline int cxml_count_names(const cxml_library *library, xmlParserCtxtPtr parser) {
    return library->count_names(parser->dict);
}

/* XML_SAX2_MAGIC is an unsigned literal too large for the int that Swift makes of it. */
static inline void cxml_mark_as_sax2(xmlSAXHandler *handler) {
    handler->initialized = XML_SAX2_MAGIC;
}

/* The line that the parser stands on; 0 before the first byte. */
static inline int cxml_line(xmlParserCtxtPtr parser) {
    return parser->input ? parser->input->line : 0;
}

#endif
