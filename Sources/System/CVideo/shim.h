// A wrapper for calling libavformat and libavcodec from Swift. The libraries are optional and loaded for the first video.
// They get no file name and no protocol, one container format, and one thread. Only listed codecs are opened.

#ifndef VITRINE_CVIDEO_SHIM_H
#define VITRINE_CVIDEO_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

/// Reads at an offset. <unistd.h> declares this function only under _XOPEN_SOURCE, which Swift does not define.
ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset);

#define CVIDEO_TEXT_OF(number) #number
#define CVIDEO_NAME(library, major) library ".so." CVIDEO_TEXT_OF(major)
#define CVIDEO_PACKAGE(library, major) library CVIDEO_TEXT_OF(major)

/// The Debian package of the version that the headers belong to. It depends on the others.
static const char *const cvideo_package = CVIDEO_PACKAGE("libavformat", LIBAVFORMAT_VERSION_MAJOR);

/// The functions that Vitrine uses, with their names here and in each library.
#define CVIDEO_FORMAT_FUNCTIONS(each) \
    each(new_format, avformat_alloc_context) \
    each(open_input, avformat_open_input) \
    each(close_input, avformat_close_input) \
    each(find_container, av_find_input_format) \
    each(find_details, avformat_find_stream_info) \
    each(find_stream, av_find_best_stream) \
    each(find_in_index, avformat_index_get_entry_from_timestamp) \
    each(read_packet, av_read_frame) \
    each(seek, av_seek_frame) \
    each(new_io, avio_alloc_context) \
    each(free_io, avio_context_free)
#define CVIDEO_CODEC_FUNCTIONS(each) \
    each(version, avcodec_version) \
    each(name_codec, avcodec_get_name) \
    each(find_decoder, avcodec_find_decoder_by_name) \
    each(new_codec, avcodec_alloc_context3) \
    each(free_codec, avcodec_free_context) \
    each(take_parameters, avcodec_parameters_to_context) \
    each(open_codec, avcodec_open2) \
    each(send_packet, avcodec_send_packet) \
    each(receive_frame, avcodec_receive_frame) \
    each(flush, avcodec_flush_buffers) \
    each(new_packet, av_packet_alloc) \
    each(free_packet, av_packet_free) \
    each(empty_packet, av_packet_unref)
#define CVIDEO_UTILITY_FUNCTIONS(each) \
    each(new_frame, av_frame_alloc) \
    each(free_frame, av_frame_free) \
    each(empty_frame, av_frame_unref) \
    each(move_frame, av_frame_move_ref) \
    each(allocate, av_malloc) \
    each(release, av_free) \
    each(limit_allocations, av_max_alloc) \
    each(set_word, av_dict_set) \
    each(get_word, av_dict_get) \
    each(free_words, av_dict_free) \
    each(describe_pixels, av_pix_fmt_desc_get) \
    each(set_log_level, av_log_set_level)
/// The function that finds the rotation. Newer versions have it in another library.
#if LIBAVFORMAT_VERSION_MAJOR < 61
#define CVIDEO_ROTATION_FUNCTION(each) each(get_side_data, av_stream_get_side_data)
#else
#define CVIDEO_ROTATION_FUNCTION(each) each(get_side_data, av_packet_side_data_get)
#endif

#define CVIDEO_DECLARE(field, name) __typeof__(&name) field;
#define CVIDEO_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct cvideo_library {
    CVIDEO_FORMAT_FUNCTIONS(CVIDEO_DECLARE)
    CVIDEO_CODEC_FUNCTIONS(CVIDEO_DECLARE)
    CVIDEO_UTILITY_FUNCTIONS(CVIDEO_DECLARE)
    CVIDEO_ROTATION_FUNCTION(CVIDEO_DECLARE)
} cvideo_library;

/// The maximum number of bytes of one allocation, and the most pixels of a frame: 8,192 × 4,608. The libraries check
/// both themselves.
#define CVIDEO_MOST_BYTES (256 << 20)
#define CVIDEO_MOST_PIXELS (8192 * 4608)

/// Loads the libraries. Returns whether all are available. They are never unloaded.
static inline int cvideo_load(cvideo_library *library) {
    void *handle = dlopen(CVIDEO_NAME("libavutil", LIBAVUTIL_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!(handle != NULL CVIDEO_UTILITY_FUNCTIONS(CVIDEO_FIND))) return 0;
    handle = dlopen(CVIDEO_NAME("libavcodec", LIBAVCODEC_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!(handle != NULL CVIDEO_CODEC_FUNCTIONS(CVIDEO_FIND))) return 0;
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    if (!(handle != NULL CVIDEO_ROTATION_FUNCTION(CVIDEO_FIND))) return 0;
#endif
    handle = dlopen(CVIDEO_NAME("libavformat", LIBAVFORMAT_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!(handle != NULL CVIDEO_FORMAT_FUNCTIONS(CVIDEO_FIND))) return 0;
#if LIBAVFORMAT_VERSION_MAJOR < 61
    if (!(handle != NULL CVIDEO_ROTATION_FUNCTION(CVIDEO_FIND))) return 0;
#endif
    // Messages would quote the file, and tell the user nothing.
    library->set_log_level(AV_LOG_QUIET);
    library->limit_allocations(CVIDEO_MOST_BYTES);
    return 1;
}

/// A codec that Vitrine opens, with the one decoder that it uses.
typedef struct cvideo_codec {
    enum AVCodecID number;
    const char *decoder;
    const char *name;
} cvideo_codec;

/// Returns the codec of a number, or NULL if Vitrine does not open it.
static inline const cvideo_codec *cvideo_find_codec(enum AVCodecID number) {
    static const cvideo_codec codecs[] = {
        {AV_CODEC_ID_H264, "h264", "H.264"},
        {AV_CODEC_ID_HEVC, "hevc", "HEVC"},
        {AV_CODEC_ID_AV1, "libdav1d", "AV1"},
        {AV_CODEC_ID_VP8, "vp8", "VP8"},
        {AV_CODEC_ID_VP9, "vp9", "VP9"},
        {AV_CODEC_ID_MPEG4, "mpeg4", "MPEG-4"},
        {AV_CODEC_ID_MPEG2VIDEO, "mpeg2video", "MPEG-2"},
        {AV_CODEC_ID_MPEG1VIDEO, "mpeg1video", "MPEG-1"},
        {AV_CODEC_ID_H263, "h263", "H.263"},
        {AV_CODEC_ID_MJPEG, "mjpeg", "Motion JPEG"},
    };
    for (size_t index = 0; index < sizeof codecs / sizeof codecs[0]; index++)
        if (codecs[index].number == number) return &codecs[index];
    return NULL;
}

/// The decoders above. The library may use only these when it searches a file for details.
static const char *const cvideo_decoders = "h264,hevc,libdav1d,vp8,vp9,mpeg4,mpeg2video,mpeg1video,h263,mjpeg";

/// A video that is being read.
typedef struct cvideo_reader {
    cvideo_library library;
    /// The file, or -1 if the bytes are in memory.
    int descriptor;
    const uint8_t *bytes;
    int64_t length;
    int64_t position;
    AVIOContext *io;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    /// The frame to show, and the one after it. Each has a picture if its buffer is not NULL.
    AVFrame *shown;
    AVFrame *ahead;
    /// Whether the decoder has got its last packet.
    int is_drained;
} cvideo_reader;

typedef enum cvideo_outcome {
    cvideo_done,
    cvideo_damaged,
    cvideo_exhausted,
    cvideo_without_video,
    cvideo_unknown_codec,
} cvideo_outcome;

/// Reads the next bytes of the file.
static inline int cvideo_read(void *context, uint8_t *target, int length) {
    cvideo_reader *reader = (cvideo_reader *)context;
    int64_t rest = reader->length - reader->position;
    if (length > rest) length = (int)rest;
    if (length <= 0) return AVERROR_EOF;
    if (reader->descriptor >= 0) {
        ssize_t count;
        do count = pread(reader->descriptor, target, (size_t)length, (off_t)reader->position);
        while (count < 0 && errno == EINTR);
        if (count <= 0) return AVERROR_EOF;
        length = (int)count;
    } else {
        memcpy(target, reader->bytes + reader->position, (size_t)length);
    }
    reader->position += length;
    return length;
}

/// Changes the position, or returns the length. The position stays within the file.
static inline int64_t cvideo_move(void *context, int64_t offset, int origin) {
    cvideo_reader *reader = (cvideo_reader *)context;
    int64_t start = 0;
    switch (origin & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return reader->length;
    case SEEK_SET: break;
    case SEEK_CUR: start = reader->position; break;
    case SEEK_END: start = reader->length; break;
    default: return AVERROR(EINVAL);
    }
    if (offset < -start || offset > reader->length - start) return AVERROR(EINVAL);
    reader->position = start + offset;
    return reader->position;
}

/// Refuses other files, to which a container may refer.
static inline int cvideo_refuse_file(
    struct AVFormatContext *format, AVIOContext **io, const char *address, int flags, AVDictionary **words) {
    (void)format, (void)io, (void)address, (void)flags, (void)words;
    return AVERROR(EPERM);
}

/// Creates a reader of a file or, if the descriptor is -1, of bytes in memory.
static inline cvideo_reader *cvideo_new(
    const cvideo_library *library, int descriptor, const uint8_t *bytes, int64_t length) {
    cvideo_reader *reader = (cvideo_reader *)calloc(1, sizeof(cvideo_reader));
    if (reader == NULL) return NULL;
    reader->library = *library;
    reader->descriptor = descriptor;
    reader->bytes = bytes;
    reader->length = length;
    return reader;
}

static inline void cvideo_free(cvideo_reader *reader) {
    cvideo_library *library = &reader->library;
    library->free_frame(&reader->shown);
    library->free_frame(&reader->ahead);
    library->free_packet(&reader->packet);
    library->free_codec(&reader->codec);
    library->close_input(&reader->format);
    if (reader->io != NULL) library->release(reader->io->buffer);
    library->free_io(&reader->io);
    free(reader);
}

/// Opens the container, which must be of this format.
static inline cvideo_outcome cvideo_open_container(cvideo_reader *reader, const char *name) {
    cvideo_library *library = &reader->library;
    const int size = 64 << 10;
    uint8_t *buffer = (uint8_t *)library->allocate((size_t)size);
    if (buffer == NULL) return cvideo_exhausted;
    reader->io = library->new_io(buffer, size, 0, reader, cvideo_read, NULL, cvideo_move);
    if (reader->io == NULL) {
        library->release(buffer);
        return cvideo_exhausted;
    }
    reader->format = library->new_format();
    if (reader->format == NULL) return cvideo_exhausted;
    reader->format->pb = reader->io;
    reader->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    reader->format->io_open = cvideo_refuse_file;
    reader->format->max_streams = 64;
    AVDictionary *words = NULL;
    library->set_word(&words, "format_whitelist", name, 0);
    library->set_word(&words, "codec_whitelist", cvideo_decoders, 0);
    library->set_word(&words, "protocol_whitelist", "none", 0);
    const AVInputFormat *container = library->find_container(name);
    // On failure, the function releases the context.
    int code = container == NULL
        ? AVERROR_DEMUXER_NOT_FOUND
        : library->open_input(&reader->format, NULL, container, &words);
    library->free_words(&words);
    return code >= 0 ? cvideo_done : code == AVERROR(ENOMEM) ? cvideo_exhausted : cvideo_damaged;
}

/// Opens the container and its video, but not the codec. `searches` reads a part of the file for details that these
/// containers do not state.
static inline cvideo_outcome cvideo_open(cvideo_reader *reader, const char *container, int searches) {
    cvideo_library *library = &reader->library;
    cvideo_outcome outcome = cvideo_open_container(reader, container);
    if (outcome != cvideo_done) return outcome;
    AVFormatContext *format = reader->format;
    int best = -1;
    if (!searches) best = library->find_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (best < 0) {
        if (library->find_details(format, NULL) == AVERROR(ENOMEM)) return cvideo_exhausted;
        best = library->find_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    }
    if (best < 0 || (unsigned)best >= format->nb_streams) return cvideo_without_video;
    reader->stream = format->streams[best];
    // Covers of music are no videos.
    if (reader->stream->disposition & AV_DISPOSITION_ATTACHED_PIC) return cvideo_without_video;
    for (unsigned index = 0; index < format->nb_streams; index++)
        if (index != (unsigned)best) format->streams[index]->discard = AVDISCARD_ALL;
    return cvideo_done;
}

/// Opens the codec, if it is one of those that Vitrine opens.
static inline cvideo_outcome cvideo_open_codec(cvideo_reader *reader) {
    cvideo_library *library = &reader->library;
    const cvideo_codec *codec = cvideo_find_codec(reader->stream->codecpar->codec_id);
    const AVCodec *decoder = codec == NULL ? NULL : library->find_decoder(codec->decoder);
    if (decoder == NULL || decoder->type != AVMEDIA_TYPE_VIDEO) return cvideo_unknown_codec;
    reader->codec = library->new_codec(decoder);
    reader->packet = library->new_packet();
    reader->shown = library->new_frame();
    reader->ahead = library->new_frame();
    if (reader->codec == NULL || reader->packet == NULL || reader->shown == NULL || reader->ahead == NULL)
        return cvideo_exhausted;
    int code = library->take_parameters(reader->codec, reader->stream->codecpar);
    if (code < 0) return code == AVERROR(ENOMEM) ? cvideo_exhausted : cvideo_damaged;
    reader->codec->thread_count = 1;
    reader->codec->max_pixels = CVIDEO_MOST_PIXELS;
    reader->codec->pkt_timebase = reader->stream->time_base;
    code = library->open_codec(reader->codec, decoder, NULL);
    return code >= 0 ? cvideo_done : code == AVERROR(ENOMEM) ? cvideo_exhausted : cvideo_damaged;
}

/// Returns the seconds of a number of time units; NaN if there is none.
static inline double cvideo_seconds(const cvideo_reader *reader, int64_t units) {
    AVRational base = reader->stream->time_base;
    if (units == AV_NOPTS_VALUE || base.num <= 0 || base.den <= 0) return __builtin_nan("");
    return (double)units * base.num / base.den;
}

/// Returns the time units of a number of seconds, within bounds.
static inline int64_t cvideo_units(const cvideo_reader *reader, double seconds) {
    AVRational base = reader->stream->time_base;
    double units = base.num > 0 && base.den > 0 ? seconds * base.den / base.num : 0;
    return units > -4e18 && units < 4e18 ? (int64_t)units : 0;
}

/// Returns the time of the first frame in the file's own seconds; NaN if the file does not state it.
static inline double cvideo_start(const cvideo_reader *reader) {
    return cvideo_seconds(reader, reader->stream->start_time);
}

/// Goes to the last key frame before a time in the file's own seconds. Then there is no frame to show. Returns 0 if the
/// position stays unchanged.
static inline int cvideo_seek(cvideo_reader *reader, double seconds) {
    int64_t units = cvideo_units(reader, seconds);
    if (reader->library.seek(reader->format, reader->stream->index, units, AVSEEK_FLAG_BACKWARD) < 0) return 0;
    reader->library.flush(reader->codec);
    reader->library.empty_frame(reader->shown);
    reader->library.empty_frame(reader->ahead);
    reader->is_drained = 0;
    return 1;
}

/// Returns the time of the last key frame before a time, according to the file's index; NaN without one.
static inline double cvideo_key_before(const cvideo_reader *reader, double seconds) {
    const AVIndexEntry *entry =
        reader->library.find_in_index(reader->stream, cvideo_units(reader, seconds), AVSEEK_FLAG_BACKWARD);
    return entry == NULL ? __builtin_nan("") : cvideo_seconds(reader, entry->timestamp);
}

/// Decodes the frame after the shown one. Returns 0 at the end, and if the rest cannot be decoded. Skips frames that
/// end before `needed`, in the file's own seconds, if no other frame depends on them.
static inline int cvideo_decode_ahead(cvideo_reader *reader, double needed) {
    cvideo_library *library = &reader->library;
    // Limit the number of packets that are damaged or give no picture.
    int packets = 0, most = 2000;
    for (;;) {
        int code = library->receive_frame(reader->codec, reader->ahead);
        if (code == 0) return 1;
        if (code == AVERROR_EOF || ++packets > most) return 0;
        if (code != AVERROR(EAGAIN) && reader->is_drained) return 0;
        if (code != AVERROR(EAGAIN)) continue;
        if (reader->is_drained || library->read_packet(reader->format, reader->packet) < 0) {
            if (reader->is_drained) return 0;
            reader->is_drained = 1;
            library->send_packet(reader->codec, NULL);
            continue;
        }
        if (reader->packet->stream_index == reader->stream->index) {
            AVPacket *packet = reader->packet;
            int64_t length = packet->duration > 0 ? packet->duration : 0;
            int is_past = packet->pts != AV_NOPTS_VALUE
                && cvideo_seconds(reader, packet->pts) + cvideo_seconds(reader, length) <= needed;
            reader->codec->skip_frame = is_past ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
            library->send_packet(reader->codec, packet);
        }
        library->empty_packet(reader->packet);
    }
}

/// Makes the frame ahead the shown one.
static inline void cvideo_advance(cvideo_reader *reader) {
    reader->library.empty_frame(reader->shown);
    reader->library.move_frame(reader->shown, reader->ahead);
}

#include "facts.h"

#endif
