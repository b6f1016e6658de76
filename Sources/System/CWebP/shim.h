// A wrapper for calling libwebp from Swift. The library is loaded for the first WebP picture instead of linked, so a
// decoder for other formats neither waits for it nor contains its code.

#ifndef VITRINE_CWEBP_SHIM_H
#define VITRINE_CWEBP_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <webp/decode.h>

/// The result of a call.
typedef enum __attribute__((enum_extensibility(closed))) cwebp_status {
    cwebp_ok,
    /// The data is truncated, but the part before the end was decoded.
    cwebp_partial,
    cwebp_damaged,
    cwebp_unsupported,
    /// Memory was exhausted.
    cwebp_exhausted,
} cwebp_status;

/// The functions that Vitrine uses, with their names here and in the library.
#define CWEBP_FUNCTIONS(each) \
    each(version, WebPGetDecoderVersion) \
    each(get_features, WebPGetFeaturesInternal) \
    each(init_config, WebPInitDecoderConfigInternal) \
    each(begin, WebPIDecode) \
    each(update, WebPIUpdate) \
    each(rows, WebPIDecGetRGB) \
    each(end, WebPIDelete) \
    each(free_buffer, WebPFreeDecBuffer)

#define CWEBP_DECLARE(field, name) __typeof__(&name) field;
#define CWEBP_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct cwebp_library {
    CWEBP_FUNCTIONS(CWEBP_DECLARE)
} cwebp_library;

/// Loads the library. Returns whether it is available. The library is never unloaded.
static inline int cwebp_load(cwebp_library *library) {
    void *handle = dlopen("libwebp.so.7", RTLD_NOW | RTLD_LOCAL);
    return handle != NULL CWEBP_FUNCTIONS(CWEBP_FIND);
}

/// Returns the library's version, with one byte per number.
static inline int cwebp_version(const cwebp_library *library) {
    return library->version();
}

static inline cwebp_status cwebp_status_of(VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OK:
        return cwebp_ok;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return cwebp_partial;
    case VP8_STATUS_OUT_OF_MEMORY:
        return cwebp_exhausted;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return cwebp_unsupported;
    default:
        return cwebp_damaged;
    }
}

/// The facts in a picture's header.
typedef struct cwebp_features {
    int width;
    int height;
    int has_alpha;
    int is_lossless;
} cwebp_features;

static inline cwebp_status cwebp_read_features(
    const cwebp_library *library, const uint8_t *bytes, size_t length, cwebp_features *features) {
    WebPBitstreamFeatures found;
    VP8StatusCode code = library->get_features(bytes, length, &found, WEBP_DECODER_ABI_VERSION);
    if (code != VP8_STATUS_OK) return cwebp_status_of(code);
    features->width = found.width;
    features->height = found.height;
    features->has_alpha = found.has_alpha;
    features->is_lossless = found.format == 2;
    return cwebp_ok;
}

/// The part of a picture to decode, and its output size. The output must not be larger than the part.
typedef struct cwebp_extent {
    int left;
    int top;
    int width;
    int height;
    int scaled_width;
    int scaled_height;
} cwebp_extent;

/// The pixels of a picture.
typedef struct cwebp_decoder {
    cwebp_library library;
    WebPDecoderConfig config;
    WebPIDecoder *incremental;
    /// The first decoded row, and the number of decoded rows.
    const uint8_t *pixels;
    int stride;
    int row_count;
} cwebp_decoder;

/// Creates a decoder without pixels. Returns NULL if memory is exhausted.
static inline cwebp_decoder *cwebp_new(const cwebp_library *library) {
    cwebp_decoder *decoder = (cwebp_decoder *)calloc(1, sizeof(cwebp_decoder));
    if (decoder != NULL) decoder->library = *library;
    return decoder;
}

static inline void cwebp_free(cwebp_decoder *decoder) {
    if (decoder->incremental) decoder->library.end(decoder->incremental);
    decoder->library.free_buffer(&decoder->config.output);
    free(decoder);
}

/// Decodes the available rows as RGBA or RGB. This uses the incremental interface, because no other reports how much of
/// a truncated picture was decoded.
static inline cwebp_status cwebp_decode(
    cwebp_decoder *decoder, const uint8_t *bytes, size_t length, const cwebp_extent *extent, int has_alpha) {
    if (!decoder->library.init_config(&decoder->config, WEBP_DECODER_ABI_VERSION)) return cwebp_unsupported;
    WebPDecoderOptions *options = &decoder->config.options;
    options->use_cropping = 1;
    options->crop_left = extent->left;
    options->crop_top = extent->top;
    options->crop_width = extent->width;
    options->crop_height = extent->height;
    options->use_scaling = extent->scaled_width != extent->width || extent->scaled_height != extent->height;
    options->scaled_width = extent->scaled_width;
    options->scaled_height = extent->scaled_height;
    decoder->config.output.colorspace = has_alpha ? MODE_RGBA : MODE_RGB;
    decoder->incremental = decoder->library.begin(NULL, 0, &decoder->config);
    if (decoder->incremental == NULL) return cwebp_exhausted;
    cwebp_status status = cwebp_status_of(decoder->library.update(decoder->incremental, bytes, length));
    int width = 0, height = 0;
    decoder->pixels = decoder->library.rows(
        decoder->incremental, &decoder->row_count, &width, &height, &decoder->stride);
    if (decoder->pixels == NULL || width != extent->scaled_width || height != extent->scaled_height)
        decoder->row_count = 0;
    if (status == cwebp_ok && decoder->row_count != height) status = cwebp_partial;
    if (status == cwebp_damaged && decoder->row_count > 0) status = cwebp_partial;
    return status;
}

#endif
