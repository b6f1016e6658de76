#ifndef VITRINE_CCURL_H
#define VITRINE_CCURL_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic; each argument type gets a function. */

static inline CURLcode vitrine_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode vitrine_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode vitrine_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode vitrine_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode vitrine_curl_set_callback(CURL *easy, CURLoption option, curl_write_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode vitrine_curl_set_progress(CURL *easy, curl_xferinfo_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode vitrine_curl_set_open_socket(CURL *easy, curl_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode vitrine_curl_set_before_request(CURL *easy, curl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLMcode vitrine_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLcode vitrine_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode vitrine_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode vitrine_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, (char **)value);
}

/* Of the connection of a transfer: the round trip of late, smoothed, in microseconds; packets with data that came since it was
   made, and how many of them before one that was sent earlier. tcp(7), TCP_INFO: the C library's structure has fewer fields
   than the kernel's, in whose <linux/tcp.h> these are tcpi_rtt, tcpi_data_segs_in and tcpi_rcv_ooopack, since Linux 5.4; their
   places do not change. Returns 0 where they are not known. */
static inline int vitrine_curl_get_packets(
    CURL *easy, curl_socket_t *connection, uint32_t *round_trip, uint32_t *received, uint32_t *disordered) {
    enum { smoothed_round_trip = 68, data_segments = 152, out_of_order = 224, end = 228 };
    unsigned char info[256];
    socklen_t length = sizeof info;
    if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, connection) != CURLE_OK || *connection == CURL_SOCKET_BAD)
        return 0;
    if (getsockopt(*connection, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < end) return 0;
    memcpy(round_trip, info + smoothed_round_trip, sizeof *round_trip);
    memcpy(received, info + data_segments, sizeof *received);
    memcpy(disordered, info + out_of_order, sizeof *disordered);
    return 1;
}

/* The CURLAUTH_ constants are casts, which Swift does not import. */
static inline long vitrine_curl_basic(void) {
    return (long)CURLAUTH_BASIC;
}

static inline long vitrine_curl_digest(void) {
    return (long)CURLAUTH_DIGEST;
}

static inline long vitrine_curl_negotiate(void) {
    return (long)CURLAUTH_NEGOTIATE;
}

static inline long vitrine_curl_bearer(void) {
    return (long)CURLAUTH_BEARER;
}

/* A host's name as it is looked up, in ASCII, where curl can say so. */
static inline unsigned vitrine_curl_punycode(void) {
#ifdef CURLU_PUNYCODE
    return CURLU_PUNYCODE;
#else
    return 0;
#endif
}

/* A finished transfer's result is in a union. */
static inline CURLcode vitrine_curl_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
