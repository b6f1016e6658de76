// A minimal program that draws a JPEG like `vitrine show --symbols sextant --colors full`.
//
//     cc -O2 -o show_limit show_limit.c -ljpeg -lm
//     show_limit FILE COLUMNS ROWS
//
// libjpeg-turbo decodes at the smallest scale with a pixel for each part of a cell. An exact area filter scales it, and the
// best of 32 splits into two colours is chosen for each cell. The program is one process without a sandbox; it ignores other
// formats, orientation, colour profiles and truncated files.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { ACROSS = 2, DOWN = 3, PARTS = ACROSS * DOWN };

/// The source pixels of an output pixel: the first and last one, and their shares.
struct span {
    int first, last;
    float first_share, last_share;
};

static struct span *spans(int source, int output) {
    struct span *all = malloc(sizeof *all * (size_t)output);
    double scale = (double)source / output;
    for (int index = 0; index < output; index++) {
        double start = index * scale, end = fmin((index + 1) * scale, source);
        int first = (int)start, last = (int)ceil(end) - 1;
        all[index].first = first;
        all[index].last = last;
        all[index].first_share = (float)(fmin(first + 1, end) - start);
        all[index].last_share = last > first ? (float)(end - last) : 0;
    }
    return all;
}

/// Adds a row, scaled to `width` pixels, to sums.
static void add_row(const uint8_t *row, const struct span *columns, int width, float share, float *sums) {
    for (int x = 0; x < width; x++, sums += 3) {
        const struct span *span = columns + x;
        const uint8_t *pixel = row + 3 * span->first;
        float red = pixel[0] * span->first_share, green = pixel[1] * span->first_share;
        float blue = pixel[2] * span->first_share;
        if (span->last > span->first) {
            unsigned whole[3] = {0, 0, 0};
            const uint8_t *last = row + 3 * span->last;
            for (pixel += 3; pixel < last; pixel += 3)
                whole[0] += pixel[0], whole[1] += pixel[1], whole[2] += pixel[2];
            red += whole[0] + last[0] * span->last_share;
            green += whole[1] + last[1] * span->last_share;
            blue += whole[2] + last[2] * span->last_share;
        }
        sums[0] += red * share;
        sums[1] += green * share;
        sums[2] += blue * share;
    }
}

static char *put_number(char *text, int number) {
    if (number >= 100) *text++ = (char)('0' + number / 100);
    if (number >= 10) *text++ = (char)('0' + number / 10 % 10);
    *text++ = (char)('0' + number % 10);
    return text;
}

static char *put_colour(char *text, const char *kind, const int *colour) {
    memcpy(text, kind, 5);
    text = put_number(text + 5, colour[0]);
    *text++ = ';';
    text = put_number(text, colour[1]);
    *text++ = ';';
    return put_number(text, colour[2]);
}

/// Draws a cell in the two colours of the best split.
static char *put_cell(char *text, const float (*parts)[3], int before[2][3]) {
    float all[3] = {0, 0, 0}, best = -1;
    for (int part = 0; part < PARTS; part++)
        for (int channel = 0; channel < 3; channel++) all[channel] += parts[part][channel];
    int mask = 0;
    // The last part is always background: other splits are equal with swapped colours.
    for (int split = 0; split < 1 << (PARTS - 1); split++) {
        float front[3] = {0, 0, 0};
        int count = 0;
        for (int part = 0; part < PARTS - 1; part++)
            if (split >> part & 1) {
                count++;
                for (int channel = 0; channel < 3; channel++) front[channel] += parts[part][channel];
            }
        float spread = 0;
        for (int channel = 0; channel < 3; channel++) {
            float behind = all[channel] - front[channel];
            spread += behind * behind / (float)(PARTS - count);
            if (count) spread += front[channel] * front[channel] / (float)count;
        }
        if (spread > best) best = spread, mask = split;
    }
    int colours[2][3];
    for (int side = 0; side < 2; side++) {
        int count = 0;
        float sum[3] = {0, 0, 0};
        for (int part = 0; part < PARTS; part++)
            if ((mask >> part & 1) != side) {
                count++;
                for (int channel = 0; channel < 3; channel++) sum[channel] += parts[part][channel];
            }
        for (int channel = 0; channel < 3; channel++)
            colours[side][channel] = count ? (int)(sum[channel] / (float)count + 0.5F) : before[side][channel];
    }
    // Side 0 is foreground, side 1 background.
    int is_front = memcmp(colours[0], before[0], sizeof colours[0]) != 0;
    int is_behind = memcmp(colours[1], before[1], sizeof colours[1]) != 0;
    if (is_front || is_behind) {
        *text++ = 0x1B;
        *text++ = '[';
        if (is_front) text = put_colour(text, "38;2;", colours[0]);
        if (is_front && is_behind) *text++ = ';';
        if (is_behind) text = put_colour(text, "48;2;", colours[1]);
        *text++ = 'm';
        memcpy(before, colours, sizeof colours);
    }
    if (mask == 0) {
        *text++ = ' ';
        return text;
    }
    // U+1FB00 and following lack the half blocks, which are older.
    unsigned scalar = mask == 0x15 ? 0x258C : 0x1FB00U + (unsigned)mask - 1 - (mask > 0x15);
    if (scalar < 0x10000) {
        *text++ = (char)(0xE0 | scalar >> 12);
    } else {
        *text++ = (char)(0xF0 | scalar >> 18);
        *text++ = (char)(0x80 | (scalar >> 12 & 63));
    }
    *text++ = (char)(0x80 | (scalar >> 6 & 63));
    *text++ = (char)(0x80 | (scalar & 63));
    return text;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    FILE *file = fopen(arguments[1], "rb");
    if (!file) return 1;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    // Cells are twice as high as wide.
    const double aspect = (double)DOWN / ACROSS / 2;
    int columns = atoi(arguments[2]) * ACROSS, rows = atoi(arguments[3]) * DOWN;
    double scale = fmin(columns * aspect / jpeg.image_width, (double)rows / jpeg.image_height);
    int width = (int)fmax(1, round(jpeg.image_width * scale / aspect));
    int height = (int)fmax(1, round(jpeg.image_height * scale));
    for (jpeg.scale_num = 1, jpeg.scale_denom = 8; jpeg.scale_num < 8; jpeg.scale_num *= 2) {
        jpeg_calc_output_dimensions(&jpeg);
        if ((int)jpeg.output_width >= width && (int)jpeg.output_height >= height) break;
    }
    jpeg.out_color_space = JCS_RGB;
    jpeg.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&jpeg);

    struct span *across = spans((int)jpeg.output_width, width), *down = spans((int)jpeg.output_height, height);
    int padded = (width + ACROSS - 1) / ACROSS * ACROSS;
    float *picture = calloc((size_t)padded * (size_t)(height + DOWN) * 3, sizeof *picture);
    uint8_t *row = malloc((size_t)jpeg.output_width * 3);
    int done = 0;
    for (int y = 0; y < (int)jpeg.output_height; y++) {
        jpeg_read_scanlines(&jpeg, &row, 1);
        for (int line = done; line < height && down[line].first <= y; line++) {
            const struct span *span = down + line;
            float share = y == span->first ? span->first_share : y == span->last ? span->last_share : 1;
            add_row(row, across, width, share, picture + (size_t)line * (size_t)padded * 3);
            if (y >= span->last) done = line + 1;
        }
    }
    float area = (float)jpeg.output_width / (float)width * ((float)jpeg.output_height / (float)height);
    for (size_t index = 0; index < (size_t)padded * (size_t)height * 3; index++) picture[index] /= area;

    char *text = malloc((size_t)(padded / ACROSS + 1) * (size_t)(height / DOWN + 1) * 64), *end = text;
    for (int line = 0; line < height; line += DOWN) {
        int before[2][3] = {{-1, -1, -1}, {-1, -1, -1}};
        for (int column = 0; column < padded; column += ACROSS) {
            float parts[PARTS][3];
            for (int part = 0; part < PARTS; part++) {
                size_t place = (size_t)(line + part / ACROSS) * (size_t)padded + (size_t)(column + part % ACROSS);
                memcpy(parts[part], picture + place * 3, sizeof parts[part]);
            }
            end = put_cell(end, (const float(*)[3])parts, before);
        }
        memcpy(end, "\033[0m\n", 5);
        end += 5;
    }
    fwrite(text, 1, (size_t)(end - text), stdout);
    jpeg_finish_decompress(&jpeg);
    return 0;
}
