// A wrapper for calling libjxl from Swift. The library is optional and loaded for the first such picture. Without a
// parallel runner, it starts no threads.

#ifndef VITRINE_CJXL_SHIM_H
#define VITRINE_CJXL_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jxl/decode.h>
#include <jxl/version.h>

#define CJXL_TEXT_OF(number) #number
#define CJXL_PACKAGE(major, minor) "libjxl" CJXL_TEXT_OF(major) "." CJXL_TEXT_OF(minor)

/// The Debian package of the version that the headers belong to.
static const char *const cjxl_package = CJXL_PACKAGE(JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION);

/// Functions of libjxl 0.7 and 0.8, which have an unused parameter. Later versions lack this parameter; `is_old` of
/// `cjxl_library` says which form to call.
typedef JxlDecoderStatus (*cjxl_get_encoding_old)(
    const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, JxlColorEncoding *);
typedef JxlDecoderStatus (*cjxl_get_encoding_new)(const JxlDecoder *, JxlColorProfileTarget, JxlColorEncoding *);
typedef JxlDecoderStatus (*cjxl_get_profile_size_old)(
    const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus (*cjxl_get_profile_size_new)(const JxlDecoder *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus (*cjxl_get_profile_old)(
    const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, uint8_t *, size_t);
typedef JxlDecoderStatus (*cjxl_get_profile_new)(const JxlDecoder *, JxlColorProfileTarget, uint8_t *, size_t);

/// The functions that Vitrine uses, with their names here and in the library. Their declarations, structures and
/// numbers are the same in all supported versions, so the headers may belong to any of them.
#define CJXL_FUNCTIONS(each) \
    each(version, JxlDecoderVersion) \
    each(create, JxlDecoderCreate) \
    each(destroy, JxlDecoderDestroy) \
    each(subscribe, JxlDecoderSubscribeEvents) \
    each(set_input, JxlDecoderSetInput) \
    each(process, JxlDecoderProcessInput) \
    each(get_info, JxlDecoderGetBasicInfo) \
    each(prefer_profile, JxlDecoderSetPreferredColorProfile) \
    each(unpack_boxes, JxlDecoderSetDecompressBoxes) \
    each(get_box_type, JxlDecoderGetBoxType) \
    each(set_box, JxlDecoderSetBoxBuffer) \
    each(release_box, JxlDecoderReleaseBoxBuffer) \
    each(set_detail, JxlDecoderSetProgressiveDetail) \
    each(get_pixels_size, JxlDecoderImageOutBufferSize) \
    each(set_pixels, JxlDecoderSetImageOutBuffer) \
    each(flush, JxlDecoderFlushImage)

#define CJXL_DECLARE(field, name) __typeof__(&name) field;
#define CJXL_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct cjxl_library {
    CJXL_FUNCTIONS(CJXL_DECLARE)
    /// Functions whose types are declared above: the old types if `is_old` is not 0, else the new ones.
    void *get_encoding;
    void *get_profile_size;
    void *get_profile;
    int is_old;
} cjxl_library;

/// Loads the newest known version. Returns whether there is one. The library is never unloaded.
static inline int cjxl_load(cjxl_library *library) {
    static const char *const names[] = {
        "libjxl.so.0.12", "libjxl.so.0.11", "libjxl.so.0.10", "libjxl.so.0.9", "libjxl.so.0.8", "libjxl.so.0.7",
    };
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        void *handle = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
        if (!(handle != NULL CJXL_FUNCTIONS(CJXL_FIND))) continue;
        library->get_encoding = dlsym(handle, "JxlDecoderGetColorAsEncodedProfile");
        library->get_profile_size = dlsym(handle, "JxlDecoderGetICCProfileSize");
        library->get_profile = dlsym(handle, "JxlDecoderGetColorAsICCProfile");
        uint32_t version = library->version();
        library->is_old = version < 9000;
        if (library->get_encoding != NULL && library->get_profile_size != NULL && library->get_profile != NULL
            && version >= 7000 && version < 13000)
            return 1;
    }
    return 0;
}

/// Returns the version in thousands: 0.7.2 is 7002.
static inline uint32_t cjxl_version(const cjxl_library *library) {
    return library->version();
}

/// A picture that is being read.
typedef struct cjxl_decoder {
    cjxl_library library;
    JxlDecoder *decoder;
    const uint8_t *bytes;
    size_t length;
    JxlBasicInfo info;
    /// The numbers of the transfer function and the primaries by ITU-T H.273; 2 if unknown.
    int transfer;
    int primaries;
    /// The colour profile of the pixels, or NULL.
    uint8_t *profile;
    size_t profile_length;
    /// The contents of the box "Exif", or NULL.
    uint8_t *exif;
    size_t exif_length;
    /// The pixels in rows of `info.xsize` pixels, or NULL.
    uint8_t *pixels;
} cjxl_decoder;

typedef enum cjxl_outcome {
    cjxl_whole,
    /// The file ends early. The pixels show its part.
    cjxl_partial,
    /// A preview in place of the picture.
    cjxl_coarse,
    cjxl_damaged,
    cjxl_exhausted,
} cjxl_outcome;

static inline cjxl_decoder *cjxl_new(const cjxl_library *library, const uint8_t *bytes, size_t length) {
    cjxl_decoder *decoder = (cjxl_decoder *)calloc(1, sizeof(cjxl_decoder));
    if (decoder == NULL) return NULL;
    decoder->library = *library;
    decoder->bytes = bytes;
    decoder->length = length;
    return decoder;
}

static inline void cjxl_free(cjxl_decoder *decoder) {
    if (decoder->decoder != NULL) decoder->library.destroy(decoder->decoder);
    free(decoder->profile);
    free(decoder->exif);
    free(decoder->pixels);
    free(decoder);
}

/// Starts to read the file from its beginning.
static inline int cjxl_begin(cjxl_decoder *decoder, int events) {
    if (decoder->decoder != NULL) decoder->library.destroy(decoder->decoder);
    decoder->decoder = decoder->library.create(NULL);
    return decoder->decoder != NULL && decoder->library.subscribe(decoder->decoder, events) == JXL_DEC_SUCCESS
        && decoder->library.set_input(decoder->decoder, decoder->bytes, decoder->length) == JXL_DEC_SUCCESS;
}

/// Returns the colours as numbers.
static inline JxlDecoderStatus cjxl_get_encoding(
    const cjxl_decoder *decoder, JxlColorProfileTarget target, JxlColorEncoding *encoding) {
    const cjxl_library *library = &decoder->library;
    return library->is_old
        ? ((cjxl_get_encoding_old)library->get_encoding)(decoder->decoder, NULL, target, encoding)
        : ((cjxl_get_encoding_new)library->get_encoding)(decoder->decoder, target, encoding);
}

/// Returns the size of the pixels' profile.
static inline JxlDecoderStatus cjxl_get_profile_size(const cjxl_decoder *decoder, size_t *size) {
    const cjxl_library *library = &decoder->library;
    JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    return library->is_old
        ? ((cjxl_get_profile_size_old)library->get_profile_size)(decoder->decoder, NULL, target, size)
        : ((cjxl_get_profile_size_new)library->get_profile_size)(decoder->decoder, target, size);
}

/// Copies the pixels' profile.
static inline JxlDecoderStatus cjxl_get_profile(const cjxl_decoder *decoder, uint8_t *profile, size_t size) {
    const cjxl_library *library = &decoder->library;
    JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    return library->is_old
        ? ((cjxl_get_profile_old)library->get_profile)(decoder->decoder, NULL, target, profile, size)
        : ((cjxl_get_profile_new)library->get_profile)(decoder->decoder, target, profile, size);
}

/// Asks for sRGB, which libjxl can grant for lossy pictures that are not HDR. Then records the profile of the pixels.
static inline void cjxl_take_colours(cjxl_decoder *decoder, size_t longest_profile) {
    JxlColorEncoding encoding;
    memset(&encoding, 0, sizeof encoding);
    int is_known = cjxl_get_encoding(decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding) == JXL_DEC_SUCCESS;
    int is_hdr = is_known
        && (encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ
            || encoding.transfer_function == JXL_TRANSFER_FUNCTION_HLG);
    if (!is_hdr && !decoder->info.uses_original_profile) {
        JxlColorEncoding plain;
        memset(&plain, 0, sizeof plain);
        plain.color_space = decoder->info.num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
        plain.white_point = JXL_WHITE_POINT_D65;
        plain.primaries = JXL_PRIMARIES_SRGB;
        plain.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
        plain.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
        decoder->library.prefer_profile(decoder->decoder, &plain);
    }
    decoder->transfer = decoder->primaries = 2;
    if (cjxl_get_encoding(decoder, JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS) {
        decoder->transfer = (int)encoding.transfer_function;
        decoder->primaries = (int)encoding.primaries;
        // H.273 has the number 12 for these primaries with the white of ordinary screens.
        if (encoding.primaries == JXL_PRIMARIES_P3 && encoding.white_point == JXL_WHITE_POINT_D65)
            decoder->primaries = 12;
    }
    size_t size = 0;
    JxlDecoderStatus status = cjxl_get_profile_size(decoder, &size);
    if (status != JXL_DEC_SUCCESS || size == 0 || size > longest_profile || decoder->profile != NULL) return;
    uint8_t *profile = (uint8_t *)malloc(size);
    if (profile == NULL) return;
    status = cjxl_get_profile(decoder, profile, size);
    if (status != JXL_DEC_SUCCESS) {
        free(profile);
        return;
    }
    decoder->profile = profile;
    decoder->profile_length = size;
}

/// Reads all that is not pixels: sizes, colours, and the first box "Exif" up to a length. Returns whether there is a
/// header.
static inline int cjxl_read_header(cjxl_decoder *decoder, size_t longest_profile, size_t longest_exif) {
    if (!cjxl_begin(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX)) return 0;
    // Boxes may be compressed with Brotli.
    decoder->library.unpack_boxes(decoder->decoder, JXL_TRUE);
    int has_info = 0, is_in_exif = 0, has_ended = 0;
    while (!has_ended) {
        JxlDecoderStatus status = decoder->library.process(decoder->decoder);
        if (is_in_exif) {
            size_t rest = decoder->library.release_box(decoder->decoder);
            decoder->exif_length = longest_exif - rest;
            is_in_exif = 0;
            if (status == JXL_DEC_BOX_NEED_MORE_OUTPUT) decoder->exif_length = 0;
        }
        switch (status) {
        case JXL_DEC_BASIC_INFO:
            has_info = decoder->library.get_info(decoder->decoder, &decoder->info) == JXL_DEC_SUCCESS;
            break;
        case JXL_DEC_COLOR_ENCODING: cjxl_take_colours(decoder, longest_profile); break;
        case JXL_DEC_BOX: {
            JxlBoxType type;
            if (decoder->exif != NULL
                || decoder->library.get_box_type(decoder->decoder, type, JXL_TRUE) != JXL_DEC_SUCCESS
                || memcmp(type, "Exif", 4) != 0)
                break;
            decoder->exif = (uint8_t *)malloc(longest_exif);
            is_in_exif = decoder->exif != NULL
                && decoder->library.set_box(decoder->decoder, decoder->exif, longest_exif) == JXL_DEC_SUCCESS;
            break;
        }
        case JXL_DEC_BOX_NEED_MORE_OUTPUT: break;
        default: has_ended = 1; break;
        }
    }
    return has_info;
}

/// Decodes the first frame with 8 bits per channel, in 3 or 4 channels. The caller has checked the size. With `soon`, it
/// stops at a picture of an eighth of the resolution, if the file has one.
static inline cjxl_outcome cjxl_decode(cjxl_decoder *decoder, uint32_t channels, int soon) {
    int events = JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE | (soon ? JXL_DEC_FRAME_PROGRESSION : 0);
    if (!cjxl_begin(decoder, events)) return cjxl_exhausted;
    if (soon) decoder->library.set_detail(decoder->decoder, kDC);
    JxlPixelFormat format = {channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    size_t expected = (size_t)decoder->info.xsize * decoder->info.ysize * channels;
    for (;;) {
        switch (decoder->library.process(decoder->decoder)) {
        case JXL_DEC_COLOR_ENCODING: cjxl_take_colours(decoder, 0); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
            size_t size = 0;
            if (decoder->pixels != NULL
                || decoder->library.get_pixels_size(decoder->decoder, &format, &size) != JXL_DEC_SUCCESS
                || size != expected)
                return cjxl_damaged;
            decoder->pixels = (uint8_t *)calloc(size, 1);
            if (decoder->pixels == NULL) return cjxl_exhausted;
            if (decoder->library.set_pixels(decoder->decoder, &format, decoder->pixels, size) != JXL_DEC_SUCCESS)
                return cjxl_damaged;
            break;
        }
        case JXL_DEC_FRAME_PROGRESSION:
            if (decoder->library.flush(decoder->decoder) == JXL_DEC_SUCCESS) return cjxl_coarse;
            break;
        case JXL_DEC_FULL_IMAGE: return cjxl_whole;
        // The file is damaged or cut: shows as much as there is.
        default:
            if (decoder->pixels != NULL && decoder->library.flush(decoder->decoder) == JXL_DEC_SUCCESS)
                return cjxl_partial;
            return cjxl_damaged;
        }
    }
}

#endif
