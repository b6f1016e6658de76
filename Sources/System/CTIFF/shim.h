// A wrapper for calling libtiff from Swift: reads from memory and collects messages instead of printing them. The
// library is loaded for the first TIFF instead of linked, because its eight dependencies would dominate a decoder's
// start-up time.

#ifndef VITRINE_CTIFF_SHIM_H
#define VITRINE_CTIFF_SHIM_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

/// The functions that Vitrine uses, with their names here and in the library.
#define CTIFF_FUNCTIONS(each) \
    each(version, TIFFGetVersion) \
    each(options_alloc, TIFFOpenOptionsAlloc) \
    each(options_free, TIFFOpenOptionsFree) \
    each(set_largest_block, TIFFOpenOptionsSetMaxSingleMemAlloc) \
    each(set_error_handler, TIFFOpenOptionsSetErrorHandlerExtR) \
    each(set_warning_handler, TIFFOpenOptionsSetWarningHandlerExtR) \
    each(open, TIFFClientOpenExt) \
    each(close, TIFFClose) \
    each(get_field, TIFFGetField) \
    each(is_tiled, TIFFIsTiled) \
    each(can_read, TIFFRGBAImageOK) \
    each(begin, TIFFRGBAImageBegin) \
    each(get, TIFFRGBAImageGet) \
    each(end, TIFFRGBAImageEnd)

#define CTIFF_DECLARE(field, name) __typeof__(&name) field;
#define CTIFF_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct ctiff_library {
    CTIFF_FUNCTIONS(CTIFF_DECLARE)
} ctiff_library;

/// Loads the library. Returns whether it is available. The library is never unloaded.
static inline int ctiff_load(ctiff_library *library) {
    void *handle = dlopen("libtiff.so.6", RTLD_NOW | RTLD_LOCAL);
    return handle != NULL CTIFF_FUNCTIONS(CTIFF_FIND);
}

/// Returns "LIBTIFF, Version 4.5.0", followed by more lines.
static inline const char *ctiff_version(const ctiff_library *library) {
    return library->version();
}

/// A picture that is being read, with its bytes and messages.
typedef struct ctiff_decoder {
    ctiff_library library;
    TIFF *tiff;
    TIFFRGBAImage image;
    int has_begun;
    const uint8_t *bytes;
    uint64_t length;
    uint64_t position;
    /// The number of errors that libtiff reported.
    int error_count;
    /// The first message that libtiff reported.
    char message[256];
} ctiff_decoder;

static inline tmsize_t ctiff_supply(thandle_t handle, void *destination, tmsize_t count) {
    ctiff_decoder *decoder = (ctiff_decoder *)handle;
    if (count < 0 || decoder->position >= decoder->length) return 0;
    uint64_t there = decoder->length - decoder->position;
    if ((uint64_t)count > there) count = (tmsize_t)there;
    memcpy(destination, decoder->bytes + decoder->position, (size_t)count);
    decoder->position += (uint64_t)count;
    return count;
}

static inline tmsize_t ctiff_refuse_to_write(thandle_t handle, void *source, tmsize_t count) {
    (void)handle;
    (void)source;
    (void)count;
    return 0;
}

static inline toff_t ctiff_seek(thandle_t handle, toff_t offset, int origin) {
    ctiff_decoder *decoder = (ctiff_decoder *)handle;
    if (origin == SEEK_CUR) offset += decoder->position;
    if (origin == SEEK_END) offset += decoder->length;
    decoder->position = offset;
    return offset;
}

static inline int ctiff_leave_open(thandle_t handle) {
    (void)handle;
    return 0;
}

static inline toff_t ctiff_length(thandle_t handle) {
    return ((ctiff_decoder *)handle)->length;
}

/// Returns the bytes, which are already in memory.
static inline int ctiff_map(thandle_t handle, void **base, toff_t *size) {
    ctiff_decoder *decoder = (ctiff_decoder *)handle;
    *base = (void *)decoder->bytes;
    *size = decoder->length;
    return 1;
}

static inline void ctiff_unmap(thandle_t handle, void *base, toff_t size) {
    (void)handle;
    (void)base;
    (void)size;
}

/// Records an error and prints nothing. "A return value of 1 means the error is handled" (TIFFError(3)).
static inline int ctiff_note_error(
    TIFF *tiff, void *decoder_of_it, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)module;
    ctiff_decoder *decoder = (ctiff_decoder *)decoder_of_it;
    if (decoder->error_count++ == 0) vsnprintf(decoder->message, sizeof decoder->message, format, arguments);
    return 1;
}

static inline int ctiff_pass_over_warning(
    TIFF *tiff, void *decoder, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)decoder;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

/// Creates a decoder that is not open yet. Returns NULL if memory is exhausted.
static inline ctiff_decoder *ctiff_new(const ctiff_library *library) {
    ctiff_decoder *decoder = (ctiff_decoder *)calloc(1, sizeof(ctiff_decoder));
    if (decoder != NULL) decoder->library = *library;
    return decoder;
}

static inline void ctiff_free(ctiff_decoder *decoder) {
    if (decoder->has_begun) decoder->library.end(&decoder->image);
    if (decoder->tiff) decoder->library.close(decoder->tiff);
    free(decoder);
}

/// Opens the file at its first picture. Returns whether that succeeded. The bytes must outlive the decoder. No single
/// memory block may exceed `largest_block`.
static inline int ctiff_open(
    ctiff_decoder *decoder, const uint8_t *bytes, size_t length, ptrdiff_t largest_block) {
    decoder->bytes = bytes;
    decoder->length = length;
    TIFFOpenOptions *options = decoder->library.options_alloc();
    if (options == NULL) return 0;
    decoder->library.set_largest_block(options, largest_block);
    decoder->library.set_error_handler(options, ctiff_note_error, decoder);
    decoder->library.set_warning_handler(options, ctiff_pass_over_warning, decoder);
    decoder->tiff = decoder->library.open(
        "picture", "r", (thandle_t)decoder, ctiff_supply, ctiff_refuse_to_write, ctiff_seek, ctiff_leave_open,
        ctiff_length, ctiff_map, ctiff_unmap, options);
    decoder->library.options_free(options);
    return decoder->tiff != NULL;
}

/// Returns a numeric field, or `otherwise` if it is missing.
static inline uint32_t ctiff_number(const ctiff_decoder *decoder, uint32_t tag, uint32_t otherwise) {
    uint32_t number = 0;
    return decoder->library.get_field(decoder->tiff, tag, &number) == 1 ? number : otherwise;
}

/// Returns a numeric field of 16 bits, or `otherwise` if it is missing.
static inline uint16_t ctiff_short(const ctiff_decoder *decoder, uint32_t tag, uint16_t otherwise) {
    uint16_t number = 0;
    return decoder->library.get_field(decoder->tiff, tag, &number) == 1 ? number : otherwise;
}

/// Returns the colour profile, which the library owns, or NULL if there is none.
static inline const uint8_t *ctiff_profile(const ctiff_decoder *decoder, uint32_t *length) {
    void *profile = NULL;
    *length = 0;
    return decoder->library.get_field(decoder->tiff, TIFFTAG_ICCPROFILE, length, &profile) == 1
        ? (const uint8_t *)profile : NULL;
}

static inline int ctiff_is_tiled(const ctiff_decoder *decoder) {
    return decoder->library.is_tiled(decoder->tiff);
}

/// Prepares the conversion to RGBA. Returns whether libtiff supports the format; if not, the message says why.
static inline int ctiff_begin(ctiff_decoder *decoder) {
    char words[1024] = "";
    if (!decoder->library.can_read(decoder->tiff, words)
        || !decoder->library.begin(&decoder->image, decoder->tiff, 0, words)) {
        snprintf(decoder->message, sizeof decoder->message, "%s", words);
        return 0;
    }
    decoder->has_begun = 1;
    // Rows in stored order. They are rotated after downscaling.
    decoder->image.orientation = ORIENTATION_TOPLEFT;
    decoder->image.req_orientation = ORIENTATION_TOPLEFT;
    return 1;
}

/// Reads rows from `first` on, with bytes in the order R, G, B, A on little-endian machines.
static inline int ctiff_read(ctiff_decoder *decoder, uint32_t first, uint32_t count, uint32_t *pixels) {
    decoder->image.row_offset = (int)first;
    decoder->image.col_offset = 0;
    return decoder->library.get(&decoder->image, pixels, decoder->image.width, count);
}

/// Whether the colours of decoded rows are not multiplied by the opacity. libtiff multiplies those of RGB and of separate
/// planes, but passes grey with opacity on as it is. Valid after `ctiff_begin`.
static inline int ctiff_is_unmultiplied(const ctiff_decoder *decoder) {
    const TIFFRGBAImage *image = &decoder->image;
    return image->isContig && image->photometric <= PHOTOMETRIC_MINISBLACK && image->alpha == EXTRASAMPLE_UNASSALPHA;
}

/// Whether the file states that its first extra channel is opacity. libtiff also takes an unspecified fourth channel for
/// opacity, but editors store selections in such channels.
static inline int ctiff_states_opacity(const ctiff_decoder *decoder) {
    uint16_t count = 0;
    const uint16_t *kinds = NULL;
    return decoder->library.get_field(decoder->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1
        && count > 0 && kinds != NULL
        && (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA);
}

static const uint32_t ctiff_width_tag = TIFFTAG_IMAGEWIDTH;
static const uint32_t ctiff_height_tag = TIFFTAG_IMAGELENGTH;
static const uint32_t ctiff_rows_per_strip_tag = TIFFTAG_ROWSPERSTRIP;
static const uint32_t ctiff_tile_height_tag = TIFFTAG_TILELENGTH;
static const uint32_t ctiff_orientation_tag = TIFFTAG_ORIENTATION;

#endif
