// libjpeg-turbo, made callable from Swift.
//
// libjpeg reports an error by calling error_exit: "Control must NOT return to the caller; generally this routine will
// exit() or longjmp() somewhere" (libjpeg.txt, "Error handling"). A longjmp over a Swift frame is undefined; therefore
// every function below that calls the library sets its own jump target first, and the jump never leaves that function.

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

/// The version that this was built with; the library cannot be asked for its own.
static inline const char *cjpeg_version(void) {
    return CJPEG_TEXT_OF(LIBJPEG_TURBO_VERSION);
}

/// What a call came to.
typedef enum __attribute__((enum_extensibility(closed))) cjpeg_status {
    cjpeg_ok,
    cjpeg_damaged,
    cjpeg_unsupported,
    cjpeg_oversized,
    /// Memory is out.
    cjpeg_exhausted,
} cjpeg_status;

/// What jpeg_consume_input has just finished.
typedef enum __attribute__((enum_extensibility(closed))) cjpeg_progress {
    /// Some rows of a scan.
    cjpeg_reading,
    /// A whole scan.
    cjpeg_scanned,
    /// The picture.
    cjpeg_ended,
} cjpeg_progress;

/// One picture being decompressed, and where its errors go.
typedef struct cjpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    /// Where error_exit jumps to; valid only within the shim call that set it.
    jmp_buf escape;
    cjpeg_status failure;
    char message[JMSG_LENGTH_MAX];
    /// Whether a warning said that picture data is missing or was made up.
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

/// Notes the warnings that mean loss; the others (extraneous bytes, odd Adobe transforms) leave the picture whole.
/// "msg_level is -1 for warnings, 0 and up for trace messages" (libjpeg.txt).
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

/// The default prints on standard error.
static inline void cjpeg_output_message(j_common_ptr info) {
    (void)info;
}

/// Makes an unopened decoder, or NULL when memory is out.
static inline cjpeg_decoder *cjpeg_new(void) {
    return (cjpeg_decoder *)calloc(1, sizeof(cjpeg_decoder));
}

/// Frees a decoder, opened or not: jpeg_destroy passes over one that was never created.
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

/// Sets the output up: scaled by `eighths`/8, as CMYK for inks and as RGB for everything else.
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

/// Reads one step further into a picture of several scans.
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

/// Whether the scans consumed so far say something of every component's blocks: their mean at least. "coef_bits[c][i] is
/// -1 if coefficient i of component c has not been seen" (jpeglib.h, in other words); only progressive pictures have it.
static inline int cjpeg_shows_every_block(const cjpeg_decoder *decoder) {
    if (decoder->info.coef_bits == NULL) return 0;
    for (int component = 0; component < decoder->info.num_components; component++)
        if (decoder->info.coef_bits[component][0] < 0) return 0;
    return 1;
}

/// Begins the output of what the scans consumed so far amount to.
static inline cjpeg_status cjpeg_show_scans(cjpeg_decoder *decoder) {
    if (setjmp(decoder->escape)) return decoder->failure;
    jpeg_start_output(&decoder->info, decoder->info.input_scan_number);
    return cjpeg_ok;
}

/// Narrows the output to some columns; `left` moves to the block boundary before it and `width` grows with it.
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

/// One picture being compressed, and where its bytes and errors go.
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

/// The room is full: there is no more.
static inline boolean cjpeg_run_out(j_compress_ptr info) {
    cjpeg_encoder *encoder = (cjpeg_encoder *)info->client_data;
    encoder->failure = cjpeg_oversized;
    longjmp(encoder->escape, 1);
}

static inline void cjpeg_end_output(j_compress_ptr info) {
    (void)info;
}

/// Compresses RGB pixels into `room`, which is `size` bytes long, and says how many of them it took. The library's own room,
/// which grows, is not used: where memory ran out while it grew, nobody could tell whose it was.
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

/// The library's words for the failure.
static inline const char *cjpeg_message(const cjpeg_decoder *decoder) {
    return decoder->message;
}

#endif
