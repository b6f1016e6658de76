// A wrapper for calling libpng from Swift.
//
// libpng reports an error by calling the error function, which "should never return to its caller" (libpng(3)), so it
// must longjmp. A longjmp across a Swift frame is undefined. So each function below sets its own jump target before
// calling the library, and the jump never leaves that function.

#ifndef VITRINE_CPNG_SHIM_H
#define VITRINE_CPNG_SHIM_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/// The result of a call.
typedef enum __attribute__((enum_extensibility(closed))) cpng_status {
    cpng_ok,
    cpng_damaged,
    /// Memory was exhausted.
    cpng_exhausted,
} cpng_status;

/// A decoder for one picture, with its input and its error state.
typedef struct cpng_decoder {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t length;
    size_t position;
    /// The jump target of cpng_fail. Valid only during the call that set it.
    jmp_buf escape;
    cpng_status failure;
    char message[128];
} cpng_decoder;

static inline void cpng_fail(png_structp png, png_const_charp message) {
    cpng_decoder *decoder = (cpng_decoder *)png_get_error_ptr(png);
    if (decoder->failure == cpng_ok) decoder->failure = cpng_damaged;
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
    longjmp(decoder->escape, 1);
}

/// Ignores a warning. The default handler would print it to standard error.
static inline void cpng_pass_over_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/// Allocates memory and records a failure. libpng reports lack of memory only by its message; the flag distinguishes it
/// from damaged data.
static inline png_voidp cpng_allocate(png_structp png, png_alloc_size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) ((cpng_decoder *)png_get_mem_ptr(png))->failure = cpng_exhausted;
    return memory;
}

static inline void cpng_release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

static inline void cpng_supply(png_structp png, png_bytep destination, size_t count) {
    cpng_decoder *decoder = (cpng_decoder *)png_get_io_ptr(png);
    if (count > decoder->length - decoder->position) png_error(png, "the file ends early");
    memcpy(destination, decoder->bytes + decoder->position, count);
    decoder->position += count;
}

/// Creates a decoder that is not open yet. Returns NULL if memory is exhausted.
static inline cpng_decoder *cpng_new(void) {
    return (cpng_decoder *)calloc(1, sizeof(cpng_decoder));
}

static inline void cpng_free(cpng_decoder *decoder) {
    if (decoder->png) png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder);
}

/// Makes libpng skip all chunks except the picture itself and those that affect its appearance. libpng neither
/// decompresses nor stores text and unknown chunks, and stores profiles only up to the chunk size limit. "If num_chunks
/// is negative, then the keep parameter specifies the manner for handling all unknown chunks plus all chunks recognized
/// by libpng except for the IHDR, PLTE, tRNS, IDAT, and IEND chunks" (png.h).
static inline void cpng_ignore_ancillary_chunks(png_structp png) {
    static const png_byte looks[] = "gAMA\0sRGB\0iCCP";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_AS_DEFAULT, looks, 3);
}

/// Requests 8-bit RGB or RGBA for every input format, converted to sRGB according to gAMA.
static inline void cpng_ask_for_rgb(png_structp png, png_infop info, int goes_by_gamma) {
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    // Ignore implausible gamma values. libpng itself ignores values within 5 % of sRGB's.
    double gamma;
    if (goes_by_gamma && !png_get_valid(png, info, PNG_INFO_sRGB) && png_get_gAMA(png, info, &gamma) && gamma > 0.1 && gamma < 2.5)
        png_set_gamma(png, PNG_DEFAULT_sRGB, gamma);
}

/// Opens the picture and reads up to its pixels. The bytes must outlive the decoder.
static inline cpng_status cpng_open(
    cpng_decoder *decoder, const uint8_t *bytes, size_t length, uint32_t largest_side) {
    decoder->bytes = bytes;
    decoder->length = length;
    if (setjmp(decoder->escape)) return decoder->failure;
    decoder->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, decoder, cpng_fail, cpng_pass_over_warning, decoder, cpng_allocate, cpng_release);
    if (decoder->png == NULL) return cpng_exhausted;
    decoder->info = png_create_info_struct(decoder->png);
    if (decoder->info == NULL) return cpng_exhausted;
    png_set_read_fn(decoder->png, decoder, cpng_supply);
    // Read small pieces: if a file is truncated, the last piece is lost entirely.
    png_set_compression_buffer_size(decoder->png, 1024);
    png_set_user_limits(decoder->png, largest_side, largest_side);
    png_set_chunk_cache_max(decoder->png, 16);
    png_set_chunk_malloc_max(decoder->png, 1 << 20);
    cpng_ignore_ancillary_chunks(decoder->png);
    png_read_info(decoder->png, decoder->info);
    return cpng_ok;
}

/// Returns the colour profile, which libpng owns, or NULL if there is none.
static inline const uint8_t *cpng_profile(cpng_decoder *decoder, uint32_t *length) {
    png_charp name = NULL;
    png_bytep profile = NULL;
    png_uint_32 count = 0;
    int method = 0;
    *length = 0;
    if (setjmp(decoder->escape)) return NULL;
    if (!png_get_iCCP(decoder->png, decoder->info, &name, &method, &profile, &count)) return NULL;
    *length = count;
    return profile;
}

/// Prepares the output. Converts to sRGB according to gAMA if requested.
static inline cpng_status cpng_start(cpng_decoder *decoder, int goes_by_gamma) {
    if (setjmp(decoder->escape)) return decoder->failure;
    cpng_ask_for_rgb(decoder->png, decoder->info, goes_by_gamma);
    png_read_update_info(decoder->png, decoder->info);
    // The caller's rows have this length, so libpng must never write longer ones.
    size_t channels = png_get_channels(decoder->png, decoder->info);
    size_t width = png_get_image_width(decoder->png, decoder->info);
    if (channels < 3 || png_get_rowbytes(decoder->png, decoder->info) != width * channels)
        png_error(decoder->png, "its rows have an unexpected length");
    return cpng_ok;
}

/// Returns the number of channels: 3 for RGB or 4 for RGBA.
static inline int cpng_channels(const cpng_decoder *decoder) {
    return png_get_channels(decoder->png, decoder->info);
}

/// Reads one row into `row`, or skips it if `row` is NULL.
static inline cpng_status cpng_read_row(cpng_decoder *decoder, uint8_t *row) {
    if (setjmp(decoder->escape)) return decoder->failure;
    png_read_row(decoder->png, row, NULL);
    return cpng_ok;
}

/// Refines one row of an interlaced picture, or skips it if `row` is NULL. Each pass fills the rectangles that its
/// pixels represent, so a truncated picture is coarse instead of full of holes.
static inline cpng_status cpng_refine_row(cpng_decoder *decoder, uint8_t *row) {
    if (setjmp(decoder->escape)) return decoder->failure;
    png_read_row(decoder->png, NULL, row);
    return cpng_ok;
}

/// Returns the library's error message.
static inline const char *cpng_message(const cpng_decoder *decoder) {
    return decoder->message;
}

#endif
