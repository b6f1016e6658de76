// A wrapper for calling LibRaw from Swift. The library is optional, and loaded for raw files before the process gives
// up opening files. LibRaw gets no file name, and runs in one thread.

#ifndef VITRINE_CRAW_SHIM_H
#define VITRINE_CRAW_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libraw/libraw.h>

#define CRAW_TEXT_OF(number) #number
#define CRAW_NAME(library, major) library ".so." CRAW_TEXT_OF(major)

/// The functions that Vitrine uses, with their names here and in the library.
#define CRAW_FUNCTIONS(each) \
    each(version, libraw_versionNumber) \
    each(create, libraw_init) \
    each(destroy, libraw_close) \
    each(watch_errors, libraw_set_dataerror_handler) \
    each(open, libraw_open_buffer) \
    each(unpack, libraw_unpack) \
    each(develop, libraw_dcraw_process) \
    each(make_picture, libraw_dcraw_make_mem_image) \
    each(release_picture, libraw_dcraw_clear_mem)

#define CRAW_DECLARE(field, name) __typeof__(&name) field;
#define CRAW_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct craw_library {
    CRAW_FUNCTIONS(CRAW_DECLARE)
    /// Sets the number of threads of the calling thread's loops; NULL if the library has one thread anyway.
    void (*set_threads)(int);
} craw_library;

/// Finds the library, and loads it if `loads` is not 0. Returns whether it is available and has the structures of the
/// headers. The library is never unloaded.
static inline int craw_load(craw_library *library, int loads) {
    int flags = RTLD_NOW | RTLD_LOCAL | (loads ? 0 : RTLD_NOLOAD);
    void *handle = dlopen(CRAW_NAME("libraw_r", LIBRAW_SHLIB_CURRENT), flags);
    if (!(handle != NULL CRAW_FUNCTIONS(CRAW_FIND))) return 0;
    library->set_threads = (void (*)(int))dlsym(handle, "omp_set_num_threads");
    return (library->version() & 0xFFFF00) == LIBRAW_MAKE_VERSION(LIBRAW_MAJOR_VERSION, LIBRAW_MINOR_VERSION, 0);
}

/// Returns the version: 0.20.2 is 0x001402.
static inline int craw_version(const craw_library *library) {
    return library->version();
}

/// The maximum number of megabytes of the sensor's data.
#define CRAW_MOST_MEGABYTES 400

/// A raw file that is being read.
typedef struct craw_reader {
    craw_library library;
    /// The library's `libraw_data_t`.
    void *data;
    /// The library's `libraw_processed_image_t`, or NULL before it is developed.
    void *picture;
    /// The size of the sensor's picture as stored, with square pixels.
    double width;
    double height;
    /// The number of the sensor's pixels with its margins.
    double sensor_pixels;
    /// The camera's rotation in dcraw's numbers: 0, 3, 5 or 6.
    int flip;
    /// Whether the sensor's data are damaged, so that the picture shows only a part of them.
    int is_damaged;
} craw_reader;

#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 22)
typedef INT64 craw_offset;
#else
typedef int craw_offset;
#endif

static inline void craw_note_error(void *context, const char *file, const craw_offset offset) {
    (void)file, (void)offset;
    ((craw_reader *)context)->is_damaged = 1;
}

static inline void craw_free(craw_reader *reader) {
    if (reader->picture != NULL) reader->library.release_picture((libraw_processed_image_t *)reader->picture);
    if (reader->data != NULL) reader->library.destroy((libraw_data_t *)reader->data);
    free(reader);
}

/// Opens a file, and reads its header but not the sensor's data. The bytes must outlive the reader. Returns NULL if the
/// library does not know the camera or the file.
static inline craw_reader *craw_open(const craw_library *library, const uint8_t *bytes, size_t length) {
    craw_reader *reader = (craw_reader *)calloc(1, sizeof(craw_reader));
    if (reader == NULL) return NULL;
    reader->library = *library;
    if (library->set_threads != NULL) library->set_threads(1);
    // Without these, the library would print messages.
    libraw_data_t *data = library->create(LIBRAW_OPIONS_NO_MEMERR_CALLBACK | LIBRAW_OPIONS_NO_DATAERR_CALLBACK);
    reader->data = data;
    if (data == NULL) goto failure;
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
    data->rawparams.max_raw_memory_mb = CRAW_MOST_MEGABYTES;
#else
    data->params.max_raw_memory_mb = CRAW_MOST_MEGABYTES;
#endif
    library->watch_errors(data, craw_note_error, reader);
    // The file stays unchanged: the function's declaration lacks "const".
    if (library->open(data, (void *)(uintptr_t)bytes, length) != LIBRAW_SUCCESS) goto failure;
    if (data->idata.raw_count < 1 || data->sizes.width < 1 || data->sizes.height < 1) goto failure;
    double aspect = data->sizes.pixel_aspect;
    if (!(aspect > 0.25 && aspect < 4)) aspect = 1;
    reader->width = data->sizes.width * (aspect > 1 ? aspect : 1);
    reader->height = data->sizes.height / (aspect < 1 ? aspect : 1);
    reader->sensor_pixels = (double)data->sizes.raw_width * data->sizes.raw_height;
    reader->flip = data->sizes.flip;
    return reader;
failure:
    craw_free(reader);
    return NULL;
}

/// Develops the picture in sRGB, without turning it. Uses the camera's white balance and the library's automatic
/// brightness. `halves` makes a quarter of the pixels, in a fraction of the time. Returns 0 on failure.
static inline int craw_develop(craw_reader *reader, int halves) {
    libraw_data_t *data = (libraw_data_t *)reader->data;
    craw_library *library = &reader->library;
    data->params.half_size = halves;
    data->params.use_camera_wb = 1;
    data->params.output_color = 1;
    data->params.output_bps = 8;
    data->params.user_flip = 0;
    // Interpolates by patterned pixel grouping, which takes half of the time of the usual method.
    data->params.user_qual = 2;
    if (reader->picture != NULL || library->unpack(data) != LIBRAW_SUCCESS
        || library->develop(data) != LIBRAW_SUCCESS)
        return 0;
    int code = LIBRAW_SUCCESS;
    libraw_processed_image_t *picture = library->make_picture(data, &code);
    reader->picture = picture;
    return picture != NULL && code == LIBRAW_SUCCESS && picture->type == LIBRAW_IMAGE_BITMAP && picture->bits == 8
        && (picture->colors == 1 || picture->colors == 3) && picture->width > 0 && picture->height > 0
        && (size_t)picture->width * picture->height * picture->colors <= picture->data_size;
}

/// The developed picture: rows of grey or of red, green and blue, with a byte each.
typedef struct craw_picture {
    int width;
    int height;
    int channels;
    const uint8_t *bytes;
} craw_picture;

/// Returns the picture that `craw_develop` has made.
static inline craw_picture craw_get_picture(const craw_reader *reader) {
    const libraw_processed_image_t *picture = (const libraw_processed_image_t *)reader->picture;
    craw_picture result = {picture->width, picture->height, picture->colors, picture->data};
    return result;
}

#endif
