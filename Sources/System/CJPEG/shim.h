// A wrapper for calling libjpeg-turbo from Swift.
//
// libjpeg reports an error by calling error_exit: "Control must NOT return to the caller; generally this routine will
// exit() or longjmp() somewhere" (libjpeg.txt, "Error handling"). A longjmp across a Swift frame is undefined. So each
// function below sets its own jump target before calling the library, and the jump never leaves that function.

#ifndef VITRINE_CJPEG_SHIM_H
#define VITRINE_CJPEG_SHIM_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

#define CJPEG_TEXT(words) #words
#define CJPEG_TEXT_OF(macro) CJPEG_TEXT(macro)

/// Returns the version of the headers. The library has no function for its own version.
static inline const char *cjpeg_version(void) {
    return CJPEG_TEXT_OF(LIBJPEG_TURBO_VERSION);
}

/// The result of a call.
typedef enum __attribute__((enum_extensibility(closed))) cjpeg_status {
    cjpeg_ok,
    cjpeg_damaged,
    cjpeg_unsupported,
    cjpeg_oversized,
    /// Memory was exhausted.
    cjpeg_exhausted,
} cjpeg_status;

/// The part that jpeg_consume_input has just finished.
typedef enum __attribute__((enum_extensibility(closed))) cjpeg_progress {
    /// The library has read some rows of a scan.
    cjpeg_reading,
    /// The library has read a complete scan.
    cjpeg_scanned,
    /// The library has read the whole picture.
    cjpeg_ended,
} cjpeg_progress;

/// A decoder for one picture, with its error state.
typedef struct cjpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    /// The jump target of error_exit. Valid only during the call that set it.
    jmp_buf escape;
    cjpeg_status failure;
    char message[JMSG_LENGTH_MAX];
    /// Whether a warning reported missing or invented picture data.
    int is_incomplete;
    int has_multiple_scans;
} cjpeg_decoder;

static inline cjpeg_status cjpeg_status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return cjpeg_exhausted;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        return cjpeg_oversized;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
        return cjpeg_unsupported;
    default:
        return cjpeg_damaged;
    }
}

static inline void cjpeg_error_exit(j_common_ptr info) {
    cjpeg_decoder *decoder = (cjpeg_decoder *)info->client_data;
    decoder->failure = cjpeg_status_of(info->err->msg_code);
    info->err->format_message(info, decoder->message);
    longjmp(decoder->escape, 1);
}

/// Records warnings about lost data. Other warnings, such as those about extraneous bytes or odd Adobe transforms, do
/// not affect the picture. "msg_level is -1 for warnings, 0 and up for trace messages" (libjpeg.txt).
static inline void cjpeg_emit_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
        ((cjpeg_decoder *)info->client_data)->is_incomplete = 1;
    }
}

/// Prints nothing. The default handler would print to standard error.
static inline void cjpeg_output_message(j_common_ptr info) {
    (void)info;
}

/// Creates a decoder that is not open yet. Returns NULL if memory is exhausted.
static inline cjpeg_decoder *cjpeg_new(void) {
    return (cjpeg_decoder *)calloc(1, sizeof(cjpeg_decoder));
}

/// Frees a decoder, open or not. The function jpeg_destroy ignores a decoder that was never created.
static inline void cjpeg_free(cjpeg_decoder *decoder) {
    jpeg_destroy_decompress(&decoder->info);
    free(decoder);
}

/// Opens the picture and reads its header. The bytes must outlive the decoder.
static inline cjpeg_status cjpeg_open(cjpeg_decoder *decoder, const uint8_t *bytes, size_t length) {
    decoder->info.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = cjpeg_error_exit;
    decoder->errors.emit_message = cjpeg_emit_message;
    decoder->errors.output_message = cjpeg_output_message;
    decoder->info.client_data = decoder;
    if (setjmp(decoder->escape)) return decoder->failure;
    jpeg_create_decompress(&decoder->info);
    jpeg_mem_src(&decoder->info, bytes, (unsigned long)length);
    jpeg_read_header(&decoder->info, TRUE);
    decoder->has_multiple_scans = jpeg_has_multiple_scans(&decoder->info);
    return cjpeg_ok;
}

/// Prepares the output, scaled by `eighths`/8. The output is CMYK for CMYK pictures and RGB for others.
static inline cjpeg_status cjpeg_start(cjpeg_decoder *decoder, unsigned eighths, int fancy_upsampling) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (setjmp(decoder->escape)) return decoder->failure;
    int inks = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    info->scale_num = eighths;
    info->scale_denom = 8;
    info->do_fancy_upsampling = fancy_upsampling;
    info->buffered_image = decoder->has_multiple_scans;
    jpeg_start_decompress(info);
    return cjpeg_ok;
}

/// Reads the next part of a picture with several scans.
static inline cjpeg_status cjpeg_consume(cjpeg_decoder *decoder, cjpeg_progress *progress) {
    if (setjmp(decoder->escape)) return decoder->failure;
    switch (jpeg_consume_input(&decoder->info)) {
    case JPEG_SCAN_COMPLETED:
        *progress = cjpeg_scanned;
        break;
    case JPEG_REACHED_EOI:
    case JPEG_SUSPENDED:
        *progress = cjpeg_ended;
        break;
    default:
        *progress = cjpeg_reading;
    }
    return cjpeg_ok;
}

/// Returns whether the scans so far contain at least the mean of each block in all components. "coef_bits[c][i] is -1
/// if coefficient i of component c has not been seen" (jpeglib.h, paraphrased); only progressive pictures have this
/// array.
static inline int cjpeg_shows_every_block(const cjpeg_decoder *decoder) {
    if (decoder->info.coef_bits == NULL) return 0;
    for (int component = 0; component < decoder->info.num_components; component++)
        if (decoder->info.coef_bits[component][0] < 0) return 0;
    return 1;
}

/// Starts output of the scans read so far.
static inline cjpeg_status cjpeg_show_scans(cjpeg_decoder *decoder) {
    if (setjmp(decoder->escape)) return decoder->failure;
    jpeg_start_output(&decoder->info, decoder->info.input_scan_number);
    return cjpeg_ok;
}

/// Restricts the output to some columns. Moves `left` to the block boundary before it, and enlarges `width`
/// accordingly.
static inline cjpeg_status cjpeg_crop(cjpeg_decoder *decoder, unsigned *left, unsigned *width) {
    if (setjmp(decoder->escape)) return decoder->failure;
    jpeg_crop_scanline(&decoder->info, left, width);
    return cjpeg_ok;
}

static inline cjpeg_status cjpeg_skip(cjpeg_decoder *decoder, unsigned rows) {
    if (setjmp(decoder->escape)) return decoder->failure;
    jpeg_skip_scanlines(&decoder->info, rows);
    return cjpeg_ok;
}

/// Reads one row of `output_width` × `output_components` bytes.
static inline cjpeg_status cjpeg_read_row(cjpeg_decoder *decoder, uint8_t *row) {
    if (setjmp(decoder->escape)) return decoder->failure;
    return jpeg_read_scanlines(&decoder->info, &row, 1) == 1 ? cjpeg_ok : cjpeg_damaged;
}

/// A compressor for one picture, with its output and its error state.
typedef struct cjpeg_encoder {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    uint8_t *room;
    size_t size;
    jmp_buf escape;
    cjpeg_status failure;
} cjpeg_encoder;

static inline void cjpeg_encoder_exit(j_common_ptr info) {
    longjmp(((cjpeg_encoder *)info->client_data)->escape, 1);
}

static inline void cjpeg_begin_output(j_compress_ptr info) {
    cjpeg_encoder *encoder = (cjpeg_encoder *)info->client_data;
    encoder->destination.next_output_byte = encoder->room;
    encoder->destination.free_in_buffer = encoder->size;
}

/// Stops the compression, because the buffer is full.
static inline boolean cjpeg_run_out(j_compress_ptr info) {
    cjpeg_encoder *encoder = (cjpeg_encoder *)info->client_data;
    encoder->failure = cjpeg_oversized;
    longjmp(encoder->escape, 1);
}

static inline void cjpeg_end_output(j_compress_ptr info) {
    (void)info;
}

/// Compresses RGB pixels into the buffer `room` of `size` bytes. Returns the number of bytes used. This does not use
/// the library's growing buffer: if memory ran out while that buffer grew, its owner would be unknown.
static inline cjpeg_status cjpeg_encode(
    const uint8_t *pixels, unsigned width, unsigned height, int quality, uint8_t *room, size_t size, size_t *length) {
    cjpeg_encoder encoder;
    encoder.info.err = jpeg_std_error(&encoder.errors);
    encoder.errors.error_exit = cjpeg_encoder_exit;
    encoder.errors.output_message = cjpeg_output_message;
    encoder.info.client_data = &encoder;
    encoder.destination.init_destination = cjpeg_begin_output;
    encoder.destination.empty_output_buffer = cjpeg_run_out;
    encoder.destination.term_destination = cjpeg_end_output;
    encoder.room = room;
    encoder.size = size;
    encoder.failure = cjpeg_exhausted;
    *length = 0;
    if (setjmp(encoder.escape)) {
        jpeg_destroy_compress(&encoder.info);
        return encoder.failure;
    }
    jpeg_create_compress(&encoder.info);
    encoder.info.dest = &encoder.destination;
    encoder.info.image_width = width;
    encoder.info.image_height = height;
    encoder.info.input_components = 3;
    encoder.info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&encoder.info);
    jpeg_set_quality(&encoder.info, quality, TRUE);
    encoder.info.optimize_coding = TRUE;
    jpeg_start_compress(&encoder.info, TRUE);
    while (encoder.info.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(pixels + (size_t)encoder.info.next_scanline * width * 3);
        jpeg_write_scanlines(&encoder.info, &row, 1);
    }
    jpeg_finish_compress(&encoder.info);
    *length = size - encoder.destination.free_in_buffer;
    jpeg_destroy_compress(&encoder.info);
    return cjpeg_ok;
}

/// Returns the library's error message.
static inline const char *cjpeg_message(const cjpeg_decoder *decoder) {
    return decoder->message;
}

#endif
