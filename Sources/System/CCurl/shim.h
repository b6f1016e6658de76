// A wrapper for calling libcurl from Swift. The library is loaded for the first request instead of linked: loading it
// and its dependencies takes longer than showing a photo from disk.

#ifndef VITRINE_CCURL_H
#define VITRINE_CCURL_H

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* The functions in use: their names here and in the library. */
#define CCURL_FUNCTIONS(each) \
    each(global_init, curl_global_init) \
    each(free, curl_free) \
    each(slist_append, curl_slist_append) \
    each(slist_free_all, curl_slist_free_all) \
    each(easy_init, curl_easy_init) \
    each(easy_setopt, curl_easy_setopt) \
    each(easy_getinfo, curl_easy_getinfo) \
    each(easy_pause, curl_easy_pause) \
    each(easy_strerror, curl_easy_strerror) \
    each(easy_cleanup, curl_easy_cleanup) \
    each(multi_init, curl_multi_init) \
    each(multi_setopt, curl_multi_setopt) \
    each(multi_add_handle, curl_multi_add_handle) \
    each(multi_remove_handle, curl_multi_remove_handle) \
    each(multi_perform, curl_multi_perform) \
    each(multi_poll, curl_multi_poll) \
    each(multi_wakeup, curl_multi_wakeup) \
    each(multi_info_read, curl_multi_info_read) \
    each(multi_strerror, curl_multi_strerror) \
    each(multi_cleanup, curl_multi_cleanup) \
    each(url, curl_url) \
    each(url_set, curl_url_set) \
    each(url_get, curl_url_get) \
    each(url_strerror, curl_url_strerror) \
    each(url_cleanup, curl_url_cleanup)

#define CCURL_DECLARE(field, name) __typeof__(&name) field;
#define CCURL_FIND(field, name) && (library->field = (__typeof__(&name))dlsym(handle, #name)) != NULL

typedef struct ccurl_library {
    CCURL_FUNCTIONS(CCURL_DECLARE)
} ccurl_library;

/* Loads the library, which is never unloaded. Returns NULL, or the error of dlerror(3), valid until its next call.

   "curl_global_init … must be called at least once within a program before the program calls any other function in libcurl",
   and since 7.84 that is safe from any thread and may be repeated. */
static inline const char *ccurl_load(ccurl_library *library, const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!(handle != NULL CCURL_FUNCTIONS(CCURL_FIND))) {
        const char *reason = dlerror();
        return reason != NULL ? reason : "a function is missing";
    }
    return library->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "it cannot be initialised";
}

static inline void ccurl_free(const ccurl_library *library, void *memory) {
    library->free(memory);
}

static inline struct curl_slist *ccurl_slist_append(
    const ccurl_library *library, struct curl_slist *list, const char *line) {
    return library->slist_append(list, line);
}

static inline void ccurl_slist_free_all(const ccurl_library *library, struct curl_slist *list) {
    library->slist_free_all(list);
}

static inline CURL *ccurl_easy_init(const ccurl_library *library) {
    return library->easy_init();
}

static inline CURLcode ccurl_easy_pause(const ccurl_library *library, CURL *easy, int directions) {
    return library->easy_pause(easy, directions);
}

static inline const char *ccurl_easy_strerror(const ccurl_library *library, CURLcode code) {
    return library->easy_strerror(code);
}

static inline void ccurl_easy_cleanup(const ccurl_library *library, CURL *easy) {
    library->easy_cleanup(easy);
}

static inline CURLM *ccurl_multi_init(const ccurl_library *library) {
    return library->multi_init();
}

static inline CURLMcode ccurl_multi_add_handle(const ccurl_library *library, CURLM *multi, CURL *easy) {
    return library->multi_add_handle(multi, easy);
}

static inline CURLMcode ccurl_multi_remove_handle(const ccurl_library *library, CURLM *multi, CURL *easy) {
    return library->multi_remove_handle(multi, easy);
}

static inline CURLMcode ccurl_multi_perform(const ccurl_library *library, CURLM *multi, int *running) {
    return library->multi_perform(multi, running);
}

static inline CURLMcode ccurl_multi_poll(const ccurl_library *library, CURLM *multi, int milliseconds) {
    return library->multi_poll(multi, NULL, 0, milliseconds, NULL);
}

static inline CURLMcode ccurl_multi_wakeup(const ccurl_library *library, CURLM *multi) {
    return library->multi_wakeup(multi);
}

/* The number of remaining messages is not needed: the caller reads until there are none. */
static inline CURLMsg *ccurl_multi_info_read(const ccurl_library *library, CURLM *multi) {
    int left = 0;
    return library->multi_info_read(multi, &left);
}

static inline const char *ccurl_multi_strerror(const ccurl_library *library, CURLMcode code) {
    return library->multi_strerror(code);
}

static inline CURLMcode ccurl_multi_cleanup(const ccurl_library *library, CURLM *multi) {
    return library->multi_cleanup(multi);
}

static inline CURLU *ccurl_url(const ccurl_library *library) {
    return library->url();
}

static inline CURLUcode ccurl_url_set(
    const ccurl_library *library, CURLU *parts, CURLUPart part, const char *value, unsigned flags) {
    return library->url_set(parts, part, value, flags);
}

static inline CURLUcode ccurl_url_get(
    const ccurl_library *library, const CURLU *parts, CURLUPart part, char **value, unsigned flags) {
    return library->url_get(parts, part, value, flags);
}

static inline const char *ccurl_url_strerror(const ccurl_library *library, CURLUcode code) {
    return library->url_strerror(code);
}

static inline void ccurl_url_cleanup(const ccurl_library *library, CURLU *parts) {
    library->url_cleanup(parts);
}

/* curl_easy_setopt and curl_easy_getinfo are variadic; each argument type has its own function. */

static inline CURLcode ccurl_set_long(const ccurl_library *library, CURL *easy, CURLoption option, long value) {
    return library->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(
    const ccurl_library *library, CURL *easy, CURLoption option, const char *value) {
    return library->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(const ccurl_library *library, CURL *easy, CURLoption option, void *value) {
    return library->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(
    const ccurl_library *library, CURL *easy, CURLoption option, struct curl_slist *value) {
    return library->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_callback(
    const ccurl_library *library, CURL *easy, CURLoption option, curl_write_callback callback) {
    return library->easy_setopt(easy, option, callback);
}

static inline CURLcode ccurl_set_offset(const ccurl_library *library, CURL *easy, CURLoption option, curl_off_t value) {
    return library->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_seek(const ccurl_library *library, CURL *easy, curl_seek_callback callback) {
    return library->easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode ccurl_set_progress(const ccurl_library *library, CURL *easy, curl_xferinfo_callback callback) {
    return library->easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode ccurl_set_open_socket(
    const ccurl_library *library, CURL *easy, curl_opensocket_callback callback) {
    return library->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode ccurl_set_before_request(
    const ccurl_library *library, CURL *easy, curl_prereq_callback callback) {
    return library->easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_set_debug(const ccurl_library *library, CURL *easy, curl_debug_callback callback) {
    return library->easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

static inline CURLMcode ccurl_multi_set_long(
    const ccurl_library *library, CURLM *multi, CURLMoption option, long value) {
    return library->multi_setopt(multi, option, value);
}

static inline CURLcode ccurl_get_long(const ccurl_library *library, CURL *easy, CURLINFO info, long *value) {
    return library->easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(const ccurl_library *library, CURL *easy, CURLINFO info, curl_off_t *value) {
    return library->easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_pointer(const ccurl_library *library, CURL *easy, CURLINFO info, void **value) {
    return library->easy_getinfo(easy, info, (char **)value);
}

/* Returns an address's port and writes its text; 0 if it has none. */
static inline int ccurl_port(const struct sockaddr_storage *address, char *text) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    int is_six = address->ss_family == AF_INET6;
    if (!is_six && address->ss_family != AF_INET) return 0;
    const void *number = is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr;
    if (!inet_ntop(address->ss_family, number, text, INET6_ADDRSTRLEN)) return 0;
    return ntohs(is_six ? six->sin6_port : four->sin_port);
}

/* Writes the ports and addresses of both ends of a connection, like CURLINFO_LOCAL_PORT, CURLINFO_LOCAL_IP, CURLINFO_PRIMARY_PORT
   and CURLINFO_PRIMARY_IP. The texts need INET6_ADDRSTRLEN bytes. Returns 0 if there is no connection. */
static inline int ccurl_get_ends(
    curl_socket_t connection, int *local_port, char *local_address, int *remote_port, char *remote_address) {
    struct sockaddr_storage local, remote;
    socklen_t length = sizeof local;
    if (getsockname(connection, (struct sockaddr *)&local, &length) != 0) return 0;
    length = sizeof remote;
    if (getpeername(connection, (struct sockaddr *)&remote, &length) != 0) return 0;
    *local_port = ccurl_port(&local, local_address);
    *remote_port = ccurl_port(&remote, remote_address);
    return *local_port != 0 && *remote_port != 0;
}

/* Writes a connection's smoothed round trip in microseconds, its received data packets, those received out of order, its
   sent data packets, and those sent again (tcp(7), TCP_INFO). The C library's structure lacks some of these fields, which are
   tcpi_rtt, tcpi_data_segs_in, tcpi_rcv_ooopack, tcpi_data_segs_out and tcpi_total_retrans in <linux/tcp.h> since Linux 5.4;
   their offsets do not change. Returns 0 if unknown. */
static inline int ccurl_get_packets(
    curl_socket_t connection, uint32_t *round_trip, uint32_t *received, uint32_t *disordered, uint32_t *sent,
    uint32_t *repeated) {
    enum {
        smoothed_round_trip = 68, retransmissions = 100, data_segments = 152, data_segments_out = 156, out_of_order = 224,
        end = 228
    };
    unsigned char info[256];
    socklen_t length = sizeof info;
    if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < end) return 0;
    memcpy(round_trip, info + smoothed_round_trip, sizeof *round_trip);
    memcpy(received, info + data_segments, sizeof *received);
    memcpy(disordered, info + out_of_order, sizeof *disordered);
    memcpy(sent, info + data_segments_out, sizeof *sent);
    memcpy(repeated, info + retransmissions, sizeof *repeated);
    return 1;
}

/* Returns the bytes that were written to a connection and not acknowledged (tcp(7), SIOCOUTQ); 0 if unknown. */
static inline int ccurl_get_unacknowledged(curl_socket_t connection) {
    int count = 0;
    return ioctl(connection, SIOCOUTQ, &count) == 0 ? count : 0;
}

/* Writes the milliseconds since a connection last received data (tcp(7), TCP_INFO). Returns 0 if unknown. */
static inline int ccurl_get_silence(curl_socket_t connection, uint32_t *milliseconds) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    size_t end = offsetof(struct tcp_info, tcpi_last_data_recv) + sizeof info.tcpi_last_data_recv;
    if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || length < end) return 0;
    *milliseconds = info.tcpi_last_data_recv;
    return 1;
}

/* The CURLAUTH_ constants are casts, which Swift does not import. */
static inline long ccurl_basic(void) {
    return (long)CURLAUTH_BASIC;
}

static inline long ccurl_digest(void) {
    return (long)CURLAUTH_DIGEST;
}

static inline long ccurl_bearer(void) {
    return (long)CURLAUTH_BEARER;
}

/* Returns the flag with which curl returns host names in ASCII, as for look-ups; 0 if curl lacks it. */
static inline unsigned ccurl_punycode(void) {
#ifdef CURLU_PUNYCODE
    return CURLU_PUNYCODE;
#else
    return 0;
#endif
}

/* A finished transfer's result is in a union. */
static inline CURLcode ccurl_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
