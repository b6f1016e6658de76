// Two plug-ins of libheif, which decode HEVC with libde265 and AV1 with dav1d.
//
// libheif's own plug-ins for libde265 ("de265_start_worker_threads") and dav1d ("n_threads (0 = number of logical cores
// in host system, default 0)", dav1d.h) start threads for each picture. Where threads are forbidden, the first waits
// forever and the second fails. So this header provides two plug-ins without threads, with higher priority.

#ifndef VITRINE_CHEIF_PLUGINS_H
#define VITRINE_CHEIF_PLUGINS_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dav1d/dav1d.h>
#include <libde265/de265.h>
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>

static const char *const cheif_heif_name = "libheif.so.1";
static const char *const cheif_hevc_name = "libde265.so.0";

/// Loads a library, or returns it if it is already loaded. The library is never unloaded.
static inline void *cheif_library(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/// Returns dav1d in either version of its interface, so that a package runs on systems newer than its builder's. The
/// first call loads it, while the process may still open files.
static inline void *cheif_av1_library(void) {
    static void *library;
    if (library == NULL) library = cheif_library("libdav1d.so.7");
    if (library == NULL) library = cheif_library("libdav1d.so.6");
    return library;
}

/// Returns a function of a library with its type.
#define CHEIF_FIND(library, name) ((__typeof__(&name))dlsym(library, #name))

static inline struct heif_error cheif_result(int is_good) {
    struct heif_error good = {heif_error_Ok, heif_suberror_Unspecified, "Success"};
    struct heif_error bad = {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, "the picture data are damaged"};
    return is_good ? good : bad;
}

/// The libheif functions that plug-ins need, with their names here and in the library.
#define CHEIF_CANVAS_FUNCTIONS(each) \
    each(create, heif_image_create) \
    each(add_plane, heif_image_add_plane) \
    each(get_plane, heif_image_get_plane) \
    each(release, heif_image_release) \
    each(alloc_colours, heif_nclx_color_profile_alloc) \
    each(free_colours, heif_nclx_color_profile_free) \
    each(set_primaries, heif_nclx_color_profile_set_color_primaries) \
    each(set_transfer, heif_nclx_color_profile_set_transfer_characteristics) \
    each(set_matrix, heif_nclx_color_profile_set_matrix_coefficients) \
    each(set_colours, heif_image_set_nclx_color_profile)

#define CHEIF_DECLARE(field, name) __typeof__(&name) field;
#define CHEIF_FIND_FIELD(field, name) && (found.field = CHEIF_FIND(heif, name)) != NULL

typedef struct cheif_canvas_functions {
    CHEIF_CANVAS_FUNCTIONS(CHEIF_DECLARE)
} cheif_canvas_functions;

/// Finds these functions once, because a picture with many tiles uses them many times.
static inline const cheif_canvas_functions *cheif_find_canvas(void) {
    static cheif_canvas_functions found;
    if (found.set_colours != NULL) return &found;
    void *heif = cheif_library(cheif_heif_name);
    return heif != NULL CHEIF_CANVAS_FUNCTIONS(CHEIF_FIND_FIELD) ? &found : NULL;
}

/// The destination of a decoded picture's planes, which is libheif's image.
typedef struct cheif_canvas {
    const cheif_canvas_functions *functions;
    struct heif_image *image;
} cheif_canvas;

static inline int cheif_make_canvas(cheif_canvas *canvas, int width, int height, enum heif_chroma chroma) {
    canvas->image = NULL;
    canvas->functions = cheif_find_canvas();
    if (canvas->functions == NULL) return 0;
    enum heif_colorspace space =
        chroma == heif_chroma_monochrome ? heif_colorspace_monochrome : heif_colorspace_YCbCr;
    return canvas->functions->create(width, height, space, chroma, &canvas->image).code == heif_error_Ok;
}

/// Copies one plane whose rows are `stride` bytes apart.
static inline int cheif_copy_plane(
    cheif_canvas *canvas, int index, const void *source, ptrdiff_t stride, int width, int height, int bits) {
    static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    if (source == NULL || width <= 0 || height <= 0 || bits < 8 || bits > 16) return 0;
    if (canvas->functions->add_plane(canvas->image, channels[index], width, height, bits).code != heif_error_Ok) return 0;
    int there = 0;
    uint8_t *target = canvas->functions->get_plane(canvas->image, channels[index], &there);
    size_t length = (size_t)width * (bits > 8 ? 2 : 1);
    if (target == NULL || there < 0 || (size_t)there < length) return 0;
    for (int row = 0; row < height; row++)
        memcpy(target + (size_t)row * (size_t)there, (const uint8_t *)source + row * stride, length);
    return 1;
}

/// Sets the colour profile, for files that state it only in the picture data.
static inline void cheif_describe(cheif_canvas *canvas, int is_full_range, int primaries, int transfer, int matrix) {
    struct heif_color_profile_nclx *colours = canvas->functions->alloc_colours();
    if (colours == NULL) return;
    canvas->functions->set_primaries(colours, (uint16_t)primaries);
    canvas->functions->set_transfer(colours, (uint16_t)transfer);
    canvas->functions->set_matrix(colours, (uint16_t)matrix);
    colours->full_range_flag = is_full_range != 0;
    canvas->functions->set_colours(canvas->image, colours);
    canvas->functions->free_colours(colours);
}

/// An HEVC picture that is being decoded.
typedef struct cheif_hevc {
    void *library;
    de265_decoder_context *context;
} cheif_hevc;

static inline const char *cheif_hevc_title(void) {
    return "libde265 without threads";
}

/// Returns the priority of the plug-in. "Default priority is 100" (heif_plugin.h).
static inline int cheif_hevc_priority(enum heif_compression_format format) {
    return format == heif_compression_HEVC && cheif_library(cheif_hevc_name) != NULL ? 1000 : 0;
}

static inline void cheif_hevc_free(void *decoder) {
    cheif_hevc *hevc = (cheif_hevc *)decoder;
    __typeof__(&de265_free_decoder) end = CHEIF_FIND(hevc->library, de265_free_decoder);
    if (end != NULL && hevc->context != NULL) end(hevc->context);
    free(hevc);
}

static inline struct heif_error cheif_hevc_new(void **decoder) {
    cheif_hevc *hevc = (cheif_hevc *)calloc(1, sizeof(cheif_hevc));
    if (hevc == NULL) return cheif_result(0);
    hevc->library = cheif_library(cheif_hevc_name);
    __typeof__(&de265_new_decoder) make = hevc->library ? CHEIF_FIND(hevc->library, de265_new_decoder) : NULL;
    hevc->context = make ? make() : NULL;
    if (hevc->context == NULL) {
        free(hevc);
        return cheif_result(0);
    }
    *decoder = hevc;
    return cheif_result(1);
}

/// Takes units of the picture. Each follows its length in four bytes, big-endian.
static inline struct heif_error cheif_hevc_push(void *decoder, const void *data, size_t size) {
    cheif_hevc *hevc = (cheif_hevc *)decoder;
    __typeof__(&de265_push_NAL) push = CHEIF_FIND(hevc->library, de265_push_NAL);
    const uint8_t *bytes = (const uint8_t *)data;
    size_t place = 0;
    if (push == NULL) return cheif_result(0);
    while (place < size) {
        if (size - place < 4) return cheif_result(0);
        size_t length = (size_t)bytes[place] << 24 | (size_t)bytes[place + 1] << 16 | (size_t)bytes[place + 2] << 8
            | bytes[place + 3];
        place += 4;
        if (length > size - place || length > INT32_MAX) return cheif_result(0);
        de265_error error = push(hevc->context, bytes + place, (int)length, 0, NULL);
        if (error != DE265_OK) return cheif_result(0);
        place += length;
    }
    return cheif_result(1);
}

static inline int cheif_hevc_copy(cheif_hevc *hevc, const struct de265_image *picture, cheif_canvas *canvas) {
    __typeof__(&de265_get_chroma_format) format = CHEIF_FIND(hevc->library, de265_get_chroma_format);
    __typeof__(&de265_get_image_width) width = CHEIF_FIND(hevc->library, de265_get_image_width);
    __typeof__(&de265_get_image_height) height = CHEIF_FIND(hevc->library, de265_get_image_height);
    __typeof__(&de265_get_bits_per_pixel) bits = CHEIF_FIND(hevc->library, de265_get_bits_per_pixel);
    __typeof__(&de265_get_image_plane) plane = CHEIF_FIND(hevc->library, de265_get_image_plane);
    __typeof__(&de265_get_image_full_range_flag) is_full = CHEIF_FIND(hevc->library, de265_get_image_full_range_flag);
    __typeof__(&de265_get_image_colour_primaries) primaries =
        CHEIF_FIND(hevc->library, de265_get_image_colour_primaries);
    __typeof__(&de265_get_image_transfer_characteristics) transfer =
        CHEIF_FIND(hevc->library, de265_get_image_transfer_characteristics);
    __typeof__(&de265_get_image_matrix_coefficients) matrix =
        CHEIF_FIND(hevc->library, de265_get_image_matrix_coefficients);
    if (!format || !width || !height || !bits || !plane || !is_full || !primaries || !transfer || !matrix) return 0;
    static const enum heif_chroma chromas[] = {
        heif_chroma_monochrome, heif_chroma_420, heif_chroma_422, heif_chroma_444};
    enum de265_chroma chroma = format(picture);
    if (chroma > de265_chroma_444) return 0;
    if (!cheif_make_canvas(canvas, width(picture, 0), height(picture, 0), chromas[chroma])) return 0;
    for (int index = 0; index < (chroma == de265_chroma_mono ? 1 : 3); index++) {
        int stride = 0;
        const uint8_t *source = plane(picture, index, &stride);
        if (!cheif_copy_plane(
                canvas, index, source, stride, width(picture, index), height(picture, index), bits(picture, index)))
            return 0;
    }
    cheif_describe(canvas, is_full(picture), primaries(picture), transfer(picture), matrix(picture));
    return 1;
}

static inline struct heif_error cheif_hevc_decode(void *decoder, struct heif_image **image) {
    cheif_hevc *hevc = (cheif_hevc *)decoder;
    __typeof__(&de265_flush_data) flush = CHEIF_FIND(hevc->library, de265_flush_data);
    __typeof__(&de265_decode) decode = CHEIF_FIND(hevc->library, de265_decode);
    __typeof__(&de265_get_next_picture) next = CHEIF_FIND(hevc->library, de265_get_next_picture);
    if (!flush || !decode || !next || flush(hevc->context) != DE265_OK) return cheif_result(0);
    const struct de265_image *picture = NULL;
    int goes_on = 1;
    while (goes_on && picture == NULL) {
        de265_error error = decode(hevc->context, &goes_on);
        picture = next(hevc->context);
        if (error != DE265_OK) break;
    }
    cheif_canvas canvas = {0};
    int is_good = picture != NULL && cheif_hevc_copy(hevc, picture, &canvas);
    if (!is_good && canvas.image != NULL) canvas.functions->release(canvas.image);
    if (is_good) *image = canvas.image;
    return cheif_result(is_good);
}

/// An AV1 picture that is being decoded, with its bytes until they are complete.
typedef struct cheif_av1 {
    uint8_t *bytes;
    size_t length;
} cheif_av1;

static inline const char *cheif_av1_title(void) {
    return "dav1d without threads";
}

static inline int cheif_av1_priority(enum heif_compression_format format) {
    return format == heif_compression_AV1 && cheif_av1_library() != NULL ? 1000 : 0;
}

static inline struct heif_error cheif_av1_new(void **decoder) {
    *decoder = calloc(1, sizeof(cheif_av1));
    return cheif_result(*decoder != NULL);
}

static inline void cheif_av1_free(void *decoder) {
    free(((cheif_av1 *)decoder)->bytes);
    free(decoder);
}

static inline struct heif_error cheif_av1_push(void *decoder, const void *data, size_t size) {
    cheif_av1 *av1 = (cheif_av1 *)decoder;
    if (size > SIZE_MAX - av1->length) return cheif_result(0);
    uint8_t *longer = (uint8_t *)realloc(av1->bytes, av1->length + size + 1);
    if (longer == NULL) return cheif_result(0);
    memcpy(longer + av1->length, data, size);
    av1->bytes = longer;
    av1->length += size;
    return cheif_result(1);
}

/// Room for a picture of either version of dav1d. That of version 7 is eight bytes longer, but the fields in use have
/// the same offsets.
typedef union cheif_av1_picture {
    Dav1dPicture picture;
    uint8_t room[sizeof(Dav1dPicture) + 64];
} cheif_av1_picture;

/// Returns whether the samples use the full range. In version 7 of dav1d, this field and the field before it are bytes.
/// Only version 7 has the function `dav1d_version_api`.
static inline int cheif_av1_is_full_range(const Dav1dSequenceHeader *header) {
    const uint8_t *depth = (const uint8_t *)header + offsetof(Dav1dSequenceHeader, hbd);
    int range;
    if (dlsym(cheif_av1_library(), "dav1d_version_api") != NULL) return depth[1];
    memcpy(&range, depth + sizeof range, sizeof range);
    return range;
}

static inline int cheif_av1_copy(const Dav1dPicture *picture, cheif_canvas *canvas) {
    static const enum heif_chroma chromas[] = {
        heif_chroma_monochrome, heif_chroma_420, heif_chroma_422, heif_chroma_444};
    if (picture->p.layout > DAV1D_PIXEL_LAYOUT_I444) return 0;
    int width = picture->p.w, height = picture->p.h;
    if (!cheif_make_canvas(canvas, width, height, chromas[picture->p.layout])) return 0;
    int halves_width = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 || picture->p.layout == DAV1D_PIXEL_LAYOUT_I422;
    int halves_height = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420;
    for (int index = 0; index < (picture->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3); index++) {
        int columns = index > 0 && halves_width ? (width + 1) / 2 : width;
        int rows = index > 0 && halves_height ? (height + 1) / 2 : height;
        if (!cheif_copy_plane(
                canvas, index, picture->data[index], picture->stride[index > 0], columns, rows, picture->p.bpc))
            return 0;
    }
    const Dav1dSequenceHeader *header = picture->seq_hdr;
    cheif_describe(canvas, cheif_av1_is_full_range(header), header->pri, header->trc, header->mtrx);
    return 1;
}

static inline struct heif_error cheif_av1_decode(void *decoder, struct heif_image **image) {
    cheif_av1 *av1 = (cheif_av1 *)decoder;
    void *library = cheif_av1_library();
    if (library == NULL || av1->length == 0) return cheif_result(0);
    __typeof__(&dav1d_default_settings) set_up = CHEIF_FIND(library, dav1d_default_settings);
    __typeof__(&dav1d_open) open = CHEIF_FIND(library, dav1d_open);
    __typeof__(&dav1d_close) close = CHEIF_FIND(library, dav1d_close);
    __typeof__(&dav1d_data_create) make = CHEIF_FIND(library, dav1d_data_create);
    __typeof__(&dav1d_data_unref) drop_data = CHEIF_FIND(library, dav1d_data_unref);
    __typeof__(&dav1d_send_data) send = CHEIF_FIND(library, dav1d_send_data);
    __typeof__(&dav1d_get_picture) get = CHEIF_FIND(library, dav1d_get_picture);
    __typeof__(&dav1d_picture_unref) drop_picture = CHEIF_FIND(library, dav1d_picture_unref);
    if (!set_up || !open || !close || !make || !drop_data || !send || !get || !drop_picture) return cheif_result(0);
    Dav1dSettings settings;
    set_up(&settings);
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.all_layers = 0;
    settings.frame_size_limit = 100000000;
    settings.logger.callback = NULL;
    Dav1dContext *context = NULL;
    if (open(&context, &settings) != 0) return cheif_result(0);
    Dav1dData data = {0};
    cheif_av1_picture decoded = {.room = {0}};
    Dav1dPicture *picture = &decoded.picture;
    cheif_canvas canvas = {0};
    int is_good = 0;
    uint8_t *room = make(&data, av1->length);
    if (room != NULL) {
        memcpy(room, av1->bytes, av1->length);
        int outcome = 0;
        // "Keep going even if the function can't consume the current data packet" (dav1d.h), until a picture comes.
        do {
            outcome = data.sz > 0 ? send(context, &data) : 0;
            if (outcome < 0 && outcome != DAV1D_ERR(EAGAIN)) break;
            outcome = get(context, picture);
        } while (outcome == DAV1D_ERR(EAGAIN) && data.sz > 0);
        if (outcome == DAV1D_ERR(EAGAIN)) outcome = get(context, picture);
        if (outcome == 0) {
            is_good = cheif_av1_copy(picture, &canvas);
            drop_picture(picture);
        }
        if (data.sz > 0) drop_data(&data);
    }
    close(&context);
    if (!is_good && canvas.image != NULL) canvas.functions->release(canvas.image);
    if (is_good) *image = canvas.image;
    return cheif_result(is_good);
}

/// A plug-in in the form that libheif 1.21 and later expect. These refuse plug-ins older than version 5, and earlier
/// versions of libheif read only the first part. The installed headers may belong to either, so this header declares
/// the structure itself.
typedef struct cheif_plugin {
    int version;
    const char *(*title)(void);
    void (*begin)(void);
    void (*end)(void);
    int (*priority)(enum heif_compression_format);
    struct heif_error (*create)(void **decoder);
    void (*free)(void *decoder);
    struct heif_error (*push)(void *decoder, const void *data, size_t size);
    struct heif_error (*decode)(void *decoder, struct heif_image **image);
    void (*set_strictness)(void *decoder, int is_strict);
    const char *name;
    struct heif_error (*decode_next)(void *decoder, struct heif_image **image, const void *limits);
    uint32_t earliest_libheif;
    int (*describe)(const void *format);
    struct heif_error (*create_with_options)(void **decoder, const void *options);
    struct heif_error (*push_frame)(void *decoder, const void *data, size_t size, uintptr_t frame);
    struct heif_error (*flush)(void *decoder);
    struct heif_error (*decode_frame)(void *decoder, struct heif_image **image, uintptr_t *frame, const void *limits);
} cheif_plugin;

/// Does nothing, because a picture's bytes are complete when libheif decodes it.
static inline struct heif_error cheif_flush(void *decoder) {
    (void)decoder;
    return cheif_result(1);
}

/// Defines the functions of version 5, which call those of version 1. Options and limits do not matter: the sandbox
/// limits memory, and the number of a frame is only for films.
#define CHEIF_PLUGIN(codec) \
    static inline struct heif_error cheif_##codec##_create(void **decoder, const void *options) { \
        (void)options; \
        return cheif_##codec##_new(decoder); \
    } \
    static inline struct heif_error cheif_##codec##_push_frame( \
        void *decoder, const void *data, size_t size, uintptr_t frame) { \
        (void)frame; \
        return cheif_##codec##_push(decoder, data, size); \
    } \
    static inline struct heif_error cheif_##codec##_decode_frame( \
        void *decoder, struct heif_image **image, uintptr_t *frame, const void *limits) { \
        (void)limits; \
        if (frame != NULL) *frame = 0; \
        return cheif_##codec##_decode(decoder, image); \
    } \
    static cheif_plugin cheif_##codec##_plugin = { \
        .title = cheif_##codec##_title, \
        .priority = cheif_##codec##_priority, \
        .create = cheif_##codec##_new, \
        .free = cheif_##codec##_free, \
        .push = cheif_##codec##_push, \
        .decode = cheif_##codec##_decode, \
        .name = "vitrine-" #codec, \
        .create_with_options = cheif_##codec##_create, \
        .push_frame = cheif_##codec##_push_frame, \
        .flush = cheif_flush, \
        .decode_frame = cheif_##codec##_decode_frame, \
    };

CHEIF_PLUGIN(hevc)
CHEIF_PLUGIN(av1)

#endif
