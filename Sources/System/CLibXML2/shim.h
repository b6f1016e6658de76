// A wrapper for calling libxml2 from Swift. The library is loaded for the first gallery instead of linked, because it
// depends on ICU and the C++ library, which commands without galleries do not need.

#ifndef VITRINE_CLIBXML2_H
#define VITRINE_CLIBXML2_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

/* The functions in use: their names here and in the library. */
#define CXML_FUNCTIONS(each) \
    each(initialise, xmlInitParser) \
    each(begin, xmlCreatePushParserCtxt) \
    each(use_options, xmlCtxtUseOptions) \
    each(parse, xmlParseChunk) \
    each(begin_page, htmlCreatePushParserCtxt) \
    each(use_page_options, htmlCtxtUseOptions) \
    each(parse_page, htmlParseChunk) \
    each(last_error, xmlCtxtGetLastError) \
    each(stop, xmlStopParser) \
    each(count_names, xmlDictSize) \
    each(free, xmlFreeParserCtxt)

#define CXML_DECLARE(field, name) __typeof__(&name) field;
#define CXML_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct cxml_library {
    CXML_FUNCTIONS(CXML_DECLARE)
} cxml_library;

/* Loads the library, which is never unloaded. Returns NULL, or the error of dlerror(3), valid until its next call.

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

/* Starts a document with its first bytes; returns NULL if memory is out. */
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

/* Starts a web page in UTF-8; returns NULL if memory is out. The other page functions are for its parser only. */
static inline xmlParserCtxtPtr cxml_begin_page(const cxml_library *library, xmlSAXHandler *handler, void *context) {
    return library->begin_page(handler, context, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
}

static inline int cxml_use_page_options(const cxml_library *library, xmlParserCtxtPtr parser, int options) {
    return library->use_page_options(parser, options);
}

static inline int cxml_parse_page(
    const cxml_library *library, xmlParserCtxtPtr parser, const char *bytes, int count, int is_last) {
    return library->parse_page(parser, bytes, count, is_last);
}

/* Returns the last error, owned by the parser, or NULL. */
static inline const xmlError *cxml_last_error(const cxml_library *library, xmlParserCtxtPtr parser) {
    return library->last_error(parser);
}

static inline void cxml_stop(const cxml_library *library, xmlParserCtxtPtr parser) {
    library->stop(parser);
}

static inline void cxml_free(const cxml_library *library, xmlParserCtxtPtr parser) {
    library->free(parser);
}

/* Returns the number of different names so far, including prefixes and namespace addresses. */
static inline int cxml_count_names(const cxml_library *library, xmlParserCtxtPtr parser) {
    return library->count_names(parser->dict);
}

/* XML_SAX2_MAGIC is an unsigned literal that does not fit into Swift's Int32. */
static inline void cxml_mark_as_sax2(xmlSAXHandler *handler) {
    handler->initialized = XML_SAX2_MAGIC;
}

/* Returns the parser's current line; 0 before the first byte. */
static inline int cxml_line(xmlParserCtxtPtr parser) {
    return parser->input ? parser->input->line : 0;
}

#endif
