#ifndef VITRINE_CLIBXML2_H
#define VITRINE_CLIBXML2_H

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

/* XML_SAX2_MAGIC is an unsigned literal too large for the int that Swift makes of it. */
static inline void vitrine_xml_mark_as_sax2(xmlSAXHandler *handler) {
    handler->initialized = XML_SAX2_MAGIC;
}

/* The line that the parser stands on; 0 before the first byte. */
static inline int vitrine_xml_line(xmlParserCtxtPtr parser) {
    return parser->input ? parser->input->line : 0;
}

#endif
