// Reads plain numbers and texts from libav's structures. shim.h includes this file.

#ifndef VITRINE_CVIDEO_FACTS_H
#define VITRINE_CVIDEO_FACTS_H

/// The properties of a video, unchecked.
typedef struct cvideo_facts {
    int width;
    int height;
    /// The width of a pixel divided by its height, or 0.
    double aspect;
    /// The length in seconds; NaN or below 0 if unknown.
    double seconds;
    /// The frames a second, or 0.
    double rate;
    /// The matrix of the rotation by ISO/IEC 14496-12, without its perspective.
    int32_t matrix[4];
} cvideo_facts;

static inline double cvideo_quotient(AVRational number) {
    return number.den > 0 && number.num > 0 ? (double)number.num / number.den : 0;
}

/// Returns the matrix of the rotation, nine numbers, or NULL.
static inline const int32_t *cvideo_matrix(const cvideo_reader *reader) {
#if LIBAVFORMAT_VERSION_MAJOR < 61
    size_t size = 0;
    const uint8_t *bytes =
        reader->library.get_side_data(reader->stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return bytes != NULL && size >= 36 ? (const int32_t *)bytes : NULL;
#else
    const AVCodecParameters *parameters = reader->stream->codecpar;
    const AVPacketSideData *data = reader->library.get_side_data(
        parameters->coded_side_data, parameters->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data != NULL && data->size >= 36 ? (const int32_t *)data->data : NULL;
#endif
}

static inline cvideo_facts cvideo_read_facts(const cvideo_reader *reader) {
    cvideo_facts facts;
    const AVStream *stream = reader->stream;
    facts.width = stream->codecpar->width;
    facts.height = stream->codecpar->height;
    facts.aspect = cvideo_quotient(stream->sample_aspect_ratio);
    if (facts.aspect == 0) facts.aspect = cvideo_quotient(stream->codecpar->sample_aspect_ratio);
    facts.seconds = cvideo_seconds(reader, stream->duration);
    if (!(facts.seconds > 0)) {
        int64_t length = reader->format->duration;
        facts.seconds = length == AV_NOPTS_VALUE ? -1 : (double)length / AV_TIME_BASE;
    }
    facts.rate = cvideo_quotient(stream->avg_frame_rate);
    if (facts.rate == 0) facts.rate = cvideo_quotient(stream->r_frame_rate);
    const int32_t *matrix = cvideo_matrix(reader);
    const int32_t upright[4] = {1, 0, 0, 1};
    for (int index = 0; index < 4; index++)
        facts.matrix[index] = matrix == NULL ? upright[index] : matrix[index + (index >= 2)];
    return facts;
}

/// Returns the codec's name for users. For codecs that Vitrine does not open, this is the library's name.
static inline const char *cvideo_codec_name(const cvideo_reader *reader) {
    const cvideo_codec *codec = cvideo_find_codec(reader->stream->codecpar->codec_id);
    return codec != NULL ? codec->name : reader->library.name_codec(reader->stream->codecpar->codec_id);
}

/// Returns a text that the file or the video states under a key, or NULL.
static inline const char *cvideo_word(const cvideo_reader *reader, const char *key) {
    const AVDictionaryEntry *entry = reader->library.get_word(reader->format->metadata, key, NULL, 0);
    if (entry == NULL) entry = reader->library.get_word(reader->stream->metadata, key, NULL, 0);
    return entry == NULL ? NULL : entry->value;
}

/// The shown frame: its planes of luma and chroma, or of red, green and blue, and their meaning.
typedef struct cvideo_picture {
    int width;
    int height;
    const uint8_t *planes[3];
    ptrdiff_t strides[3];
    /// 1 for grey, otherwise 3.
    int count;
    int is_rgb;
    /// The bits of a sample, 8 to 12. Above 8, a sample has two bytes in this machine's order.
    int depth;
    /// The chroma's sides are smaller by these powers of two.
    int shift_across;
    int shift_down;
    int is_full_range;
    /// The numbers of ITU-T H.273; 2 if unknown.
    int matrix;
    int transfer;
    int primaries;
    /// The width of a pixel divided by its height, or 0.
    double aspect;
} cvideo_picture;

/// Reads the shown frame. Returns 0 if its pixels are of a kind that Vitrine does not read.
static inline int cvideo_read_picture(const cvideo_reader *reader, cvideo_picture *picture) {
    const AVFrame *frame = reader->shown;
    const AVPixFmtDescriptor *kind = reader->library.describe_pixels((enum AVPixelFormat)frame->format);
    if (kind == NULL || frame->width <= 0 || frame->height <= 0) return 0;
    const uint64_t others = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL
        | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
    if (kind->flags & others) return 0;
    memset(picture, 0, sizeof *picture);
    picture->width = frame->width;
    picture->height = frame->height;
    picture->count = kind->nb_components >= 3 ? 3 : 1;
    picture->depth = kind->comp[0].depth;
    if (picture->depth < 8 || picture->depth > 12) return 0;
    int step = picture->depth > 8 ? 2 : 1;
    // Vitrine reads only the byte order of this machine.
    if (step == 2 && (kind->flags & AV_PIX_FMT_FLAG_BE) != (AV_NE(1, 0) ? AV_PIX_FMT_FLAG_BE : 0)) return 0;
    for (int index = 0; index < picture->count; index++) {
        const AVComponentDescriptor *part = &kind->comp[index];
        if (part->step != step || part->offset != 0 || part->shift != 0 || part->depth != picture->depth
            || part->plane < 0 || part->plane > 2 || frame->data[part->plane] == NULL)
            return 0;
        picture->planes[index] = frame->data[part->plane];
        picture->strides[index] = frame->linesize[part->plane];
    }
    picture->is_rgb = (kind->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    if (picture->is_rgb && picture->count != 3) return 0;
    picture->shift_across = kind->log2_chroma_w;
    picture->shift_down = kind->log2_chroma_h;
    // The formats whose names begin with "yuvj" mean the full range.
    picture->is_full_range = frame->color_range == AVCOL_RANGE_JPEG || strncmp(kind->name, "yuvj", 4) == 0;
    picture->matrix = (int)frame->colorspace;
    // JPEG allows no other matrix.
    if (reader->stream->codecpar->codec_id == AV_CODEC_ID_MJPEG) picture->matrix = AVCOL_SPC_BT470BG;
    picture->transfer = (int)frame->color_trc;
    picture->primaries = (int)frame->color_primaries;
    picture->aspect = cvideo_quotient(frame->sample_aspect_ratio);
    return 1;
}

/// Returns the time of the frame ahead in the file's own seconds; NaN if unknown.
static inline double cvideo_time_ahead(const cvideo_reader *reader) {
    return cvideo_seconds(reader, reader->ahead->best_effort_timestamp);
}

#endif
