// Compression in the format of gzip. zlib is loaded with the first compressed file instead of linked, because few runs
// compress one.

#ifndef VITRINE_CZLIB_H
#define VITRINE_CZLIB_H

#include <dlfcn.h>
#include <stddef.h>

#include <zlib.h>

/* Compresses bytes. Returns the number of bytes written, or 0 if the library is missing or the room too small.

   "windowBits can also be greater than 15 for optional gzip encoding. Add 16 to windowBits to write a simple gzip header and
   trailer around the compressed data instead of a zlib wrapper." "deflate must return Z_STREAM_END" if the room suffices. */
static inline size_t czlib_gzip(
    const char *name, const unsigned char *bytes, unsigned count, unsigned char *room, unsigned size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    __typeof__(&deflateInit2_) begin = (__typeof__(&deflateInit2_))dlsym(library, "deflateInit2_");
    __typeof__(&deflate) compress = (__typeof__(&deflate))dlsym(library, "deflate");
    __typeof__(&deflateEnd) end = (__typeof__(&deflateEnd))dlsym(library, "deflateEnd");
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = count, .next_out = room, .avail_out = size};
    if (begin == NULL || compress == NULL || end == NULL
        || begin(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof stream)
            != Z_OK)
        return 0;
    int result = compress(&stream, Z_FINISH);
    size_t written = size - stream.avail_out;
    end(&stream);
    return result == Z_STREAM_END ? written : 0;
}

#endif
