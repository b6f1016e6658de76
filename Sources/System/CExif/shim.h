// A wrapper for reading libexif's C arrays from Swift.

#ifndef VITRINE_CEXIF_SHIM_H
#define VITRINE_CEXIF_SHIM_H

#include <stddef.h>

#include <libexif/exif-byte-order.h>
#include <libexif/exif-content.h>
#include <libexif/exif-data.h>
#include <libexif/exif-entry.h>
#include <libexif/exif-tag.h>
#include <libexif/exif-utils.h>

/// Reads a block that begins with "Exif\0\0", without changing it. By default libexif adds entries that the
/// specification requires ("create any new entries that are mandatory but do not yet exist", exif-data.h).
static inline ExifData *cexif_read(const unsigned char *bytes, unsigned int length) {
    ExifData *data = exif_data_new();
    if (data == NULL) return NULL;
    exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    exif_data_load_data(data, bytes, length);
    return data;
}

static inline ExifContent *cexif_directory(ExifData *data, ExifIfd directory) {
    return data->ifd[directory];
}

#endif
