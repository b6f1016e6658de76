// A wrapper for calling libheif and its two decoders from Swift. They are optional and loaded for the first such
// picture.

#ifndef VITRINE_CHEIF_SHIM_H
#define VITRINE_CHEIF_SHIM_H

#include "plugins.h"

/// The libheif functions for reading a file.
typedef struct cheif_functions {
    __typeof__(&heif_context_alloc) new_context;
    __typeof__(&heif_context_free) free_context;
    __typeof__(&heif_context_set_maximum_image_size_limit) set_largest_side;
    __typeof__(&heif_context_set_max_decoding_threads) set_threads;
    __typeof__(&heif_context_read_from_memory_without_copy) read;
    __typeof__(&heif_context_get_primary_image_handle) get_primary;
    __typeof__(&heif_image_handle_release) release_handle;
    __typeof__(&heif_image_handle_get_width) get_width;
    __typeof__(&heif_image_handle_get_height) get_height;
    __typeof__(&heif_image_handle_has_alpha_channel) has_alpha;
    __typeof__(&heif_image_handle_is_premultiplied_alpha) is_premultiplied;
    __typeof__(&heif_image_handle_get_list_of_metadata_block_IDs) list_metadata;
    __typeof__(&heif_image_handle_get_metadata_size) get_metadata_size;
    __typeof__(&heif_image_handle_get_metadata) get_metadata;
    __typeof__(&heif_image_handle_get_raw_color_profile_size) get_profile_size;
    __typeof__(&heif_image_handle_get_raw_color_profile) get_profile;
    __typeof__(&heif_image_handle_get_nclx_color_profile) get_coding;
    __typeof__(&heif_nclx_color_profile_free) free_coding;
    __typeof__(&heif_image_handle_get_list_of_thumbnail_IDs) list_thumbnails;
    __typeof__(&heif_image_handle_get_thumbnail) get_thumbnail;
    __typeof__(&heif_decoding_options_alloc) new_options;
    __typeof__(&heif_decoding_options_free) free_options;
    __typeof__(&heif_decode_image) decode;
    __typeof__(&heif_image_release) release_image;
    __typeof__(&heif_image_get_width) image_width;
    __typeof__(&heif_image_get_height) image_height;
    __typeof__(&heif_image_get_plane_readonly) get_plane;
} cheif_functions;

/// Finds libheif and its functions. Returns whether all are available.
static inline int cheif_find(cheif_functions *functions) {
    void *heif = cheif_library(cheif_heif_name);
    if (heif == NULL) return 0;
    functions->new_context = CHEIF_FIND(heif, heif_context_alloc);
    functions->free_context = CHEIF_FIND(heif, heif_context_free);
    functions->set_largest_side = CHEIF_FIND(heif, heif_context_set_maximum_image_size_limit);
    functions->set_threads = CHEIF_FIND(heif, heif_context_set_max_decoding_threads);
    functions->read = CHEIF_FIND(heif, heif_context_read_from_memory_without_copy);
    functions->get_primary = CHEIF_FIND(heif, heif_context_get_primary_image_handle);
    functions->release_handle = CHEIF_FIND(heif, heif_image_handle_release);
    functions->get_width = CHEIF_FIND(heif, heif_image_handle_get_width);
    functions->get_height = CHEIF_FIND(heif, heif_image_handle_get_height);
    functions->has_alpha = CHEIF_FIND(heif, heif_image_handle_has_alpha_channel);
    functions->is_premultiplied = CHEIF_FIND(heif, heif_image_handle_is_premultiplied_alpha);
    functions->list_metadata = CHEIF_FIND(heif, heif_image_handle_get_list_of_metadata_block_IDs);
    functions->get_metadata_size = CHEIF_FIND(heif, heif_image_handle_get_metadata_size);
    functions->get_metadata = CHEIF_FIND(heif, heif_image_handle_get_metadata);
    functions->get_profile_size = CHEIF_FIND(heif, heif_image_handle_get_raw_color_profile_size);
    functions->get_profile = CHEIF_FIND(heif, heif_image_handle_get_raw_color_profile);
    functions->get_coding = CHEIF_FIND(heif, heif_image_handle_get_nclx_color_profile);
    functions->free_coding = CHEIF_FIND(heif, heif_nclx_color_profile_free);
    functions->list_thumbnails = CHEIF_FIND(heif, heif_image_handle_get_list_of_thumbnail_IDs);
    functions->get_thumbnail = CHEIF_FIND(heif, heif_image_handle_get_thumbnail);
    functions->new_options = CHEIF_FIND(heif, heif_decoding_options_alloc);
    functions->free_options = CHEIF_FIND(heif, heif_decoding_options_free);
    functions->decode = CHEIF_FIND(heif, heif_decode_image);
    functions->release_image = CHEIF_FIND(heif, heif_image_release);
    functions->image_width = CHEIF_FIND(heif, heif_image_get_width);
    functions->image_height = CHEIF_FIND(heif, heif_image_get_height);
    functions->get_plane = CHEIF_FIND(heif, heif_image_get_plane_readonly);
    // The structure contains only function pointers; none may be missing.
    const void *const *pointers = (const void *const *)functions;
    for (size_t index = 0; index < sizeof *functions / sizeof(void *); index++)
        if (pointers[index] == NULL) return 0;
    return 1;
}

/// Loads the libraries and registers the plug-ins. Call this once, before files and threads become forbidden. Returns
/// whether libheif is available; pictures with a missing codec fail individually.
static inline int cheif_load(void) {
    cheif_functions functions;
    if (!cheif_find(&functions)) return 0;
    void *heif = cheif_library(cheif_heif_name);
    __typeof__(&heif_init) initialise = CHEIF_FIND(heif, heif_init);
    __typeof__(&heif_register_decoder_plugin) add = CHEIF_FIND(heif, heif_register_decoder_plugin);
    __typeof__(&heif_get_version_number) version = CHEIF_FIND(heif, heif_get_version_number);
    if (initialise == NULL || add == NULL || version == NULL || initialise(NULL).code != heif_error_Ok) return 0;
    cheif_library(cheif_hevc_name);
    cheif_av1_library();
    // "Numeric version of linked libheif library, encoded as BCD 0xHHMMLL00" (heif.h), but in fact not in decimals.
    cheif_hevc_plugin.version = cheif_av1_plugin.version = version() >= 0x01150000 ? 5 : 1;
    return add((const struct heif_decoder_plugin *)&cheif_hevc_plugin).code == heif_error_Ok
        && add((const struct heif_decoder_plugin *)&cheif_av1_plugin).code == heif_error_Ok;
}

/// Returns libheif's version, or NULL if it is missing.
static inline const char *cheif_version(void) {
    void *heif = cheif_library(cheif_heif_name);
    __typeof__(&heif_get_version) version = heif ? CHEIF_FIND(heif, heif_get_version) : NULL;
    return version ? version() : NULL;
}

/// A file that is being read.
typedef struct cheif_decoder {
    cheif_functions functions;
    struct heif_context *context;
    struct heif_image_handle *picture;
    struct heif_image *image;
    const uint8_t *pixels;
    int stride;
    /// The result of the last call that `cheif_check` has checked.
    enum heif_error_code code;
    enum heif_suberror_code subcode;
    char message[160];
} cheif_decoder;

/// Creates a decoder that is not open yet. Returns NULL if memory is exhausted or the library is missing.
static inline cheif_decoder *cheif_new(void) {
    cheif_decoder *decoder = (cheif_decoder *)calloc(1, sizeof(cheif_decoder));
    if (decoder == NULL || cheif_find(&decoder->functions)) return decoder;
    free(decoder);
    return NULL;
}

static inline void cheif_free(cheif_decoder *decoder) {
    if (decoder->image) decoder->functions.release_image(decoder->image);
    if (decoder->picture) decoder->functions.release_handle(decoder->picture);
    if (decoder->context) decoder->functions.free_context(decoder->context);
    free(decoder);
}

/// Records a call's result, and the message of a failure. Returns whether the call succeeded.
static inline int cheif_check(cheif_decoder *decoder, struct heif_error error) {
    decoder->code = error.code;
    decoder->subcode = error.subcode;
    if (error.code == heif_error_Ok) return 1;
    strncpy(decoder->message, error.message ? error.message : "", sizeof decoder->message - 1);
    return 0;
}

/// Opens a file's main picture. The bytes must outlive the decoder. Returns whether that succeeded.
static inline int cheif_open(cheif_decoder *decoder, const uint8_t *bytes, size_t length, int largest_side) {
    decoder->context = decoder->functions.new_context();
    if (decoder->context == NULL) return 0;
    decoder->functions.set_largest_side(decoder->context, largest_side);
    // "If the maximum threads number is set to 0, the image tiles are decoded in the main thread" (heif.h).
    decoder->functions.set_threads(decoder->context, 0);
    return cheif_check(decoder, decoder->functions.read(decoder->context, bytes, length, NULL))
        && cheif_check(decoder, decoder->functions.get_primary(decoder->context, &decoder->picture));
}

static inline int cheif_width(const cheif_decoder *decoder) {
    return decoder->functions.get_width(decoder->picture);
}

static inline int cheif_height(const cheif_decoder *decoder) {
    return decoder->functions.get_height(decoder->picture);
}

static inline int cheif_has_alpha(const cheif_decoder *decoder) {
    return decoder->functions.has_alpha(decoder->picture);
}

static inline int cheif_is_premultiplied(const cheif_decoder *decoder) {
    return decoder->functions.is_premultiplied(decoder->picture);
}

/// Returns the length of the first EXIF block. Returns 0 if there is none.
static inline size_t cheif_exif_length(const cheif_decoder *decoder, heif_item_id *block) {
    if (decoder->functions.list_metadata(decoder->picture, "Exif", block, 1) != 1) return 0;
    return decoder->functions.get_metadata_size(decoder->picture, *block);
}

static inline int cheif_copy_exif(cheif_decoder *decoder, heif_item_id block, void *bytes) {
    return cheif_check(decoder, decoder->functions.get_metadata(decoder->picture, block, bytes));
}

static inline size_t cheif_profile_length(const cheif_decoder *decoder) {
    return decoder->functions.get_profile_size(decoder->picture);
}

static inline int cheif_copy_profile(cheif_decoder *decoder, void *bytes) {
    return cheif_check(decoder, decoder->functions.get_profile(decoder->picture, bytes));
}

/// Reads the numbers of the transfer function and the primaries by ITU-T H.273. Returns whether the file states them.
static inline int cheif_get_coding(cheif_decoder *decoder, int *transfer, int *primaries) {
    struct heif_color_profile_nclx *coding = NULL;
    if (decoder->functions.get_coding(decoder->picture, &coding).code != heif_error_Ok || coding == NULL) return 0;
    *transfer = (int)coding->transfer_characteristics;
    *primaries = (int)coding->color_primaries;
    decoder->functions.free_coding(coding);
    return 1;
}

/// Switches from the picture to its first embedded thumbnail. Returns whether there is one.
static inline int cheif_take_thumbnail(cheif_decoder *decoder) {
    heif_item_id identifier;
    struct heif_image_handle *thumbnail = NULL;
    if (decoder->functions.list_thumbnails(decoder->picture, &identifier, 1) < 1) return 0;
    if (!cheif_check(decoder, decoder->functions.get_thumbnail(decoder->picture, identifier, &thumbnail))) return 0;
    decoder->functions.release_handle(decoder->picture);
    decoder->picture = thumbnail;
    return 1;
}

/// Decodes the picture as 8-bit RGB or RGBA. Returns whether it has at least the size that the header states. Thumbnails of
/// Canon's cameras have more rows than that, without content.
static inline int cheif_decode(cheif_decoder *decoder, int has_alpha) {
    struct heif_decoding_options *options = decoder->functions.new_options();
    if (options == NULL) return 0;
    options->convert_hdr_to_8bit = 1;
    enum heif_chroma chroma = has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    struct heif_error error =
        decoder->functions.decode(decoder->picture, &decoder->image, heif_colorspace_RGB, chroma, options);
    decoder->functions.free_options(options);
    if (!cheif_check(decoder, error)) return 0;
    decoder->pixels = decoder->functions.get_plane(decoder->image, heif_channel_interleaved, &decoder->stride);
    return decoder->pixels != NULL
        && decoder->functions.image_width(decoder->image, heif_channel_interleaved) >= cheif_width(decoder)
        && decoder->functions.image_height(decoder->image, heif_channel_interleaved) >= cheif_height(decoder)
        && decoder->stride >= cheif_width(decoder) * (has_alpha ? 4 : 3);
}

#endif
