import CCurl

/// What curl knows of a transfer.
extension UnsafeMutableRawPointer {
    func long(_ info: CURLINFO) -> Int {
        var value = 0
        vitrine_curl_get_long(self, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        vitrine_curl_get_offset(self, info, &value)
        return Int64(value)
    }

    var metrics: HTTPMetrics {
        HTTPMetrics(
            bytes: offset(CURLINFO_SIZE_DOWNLOAD_T),
            duration: Double(offset(CURLINFO_TOTAL_TIME_T)) / 1e6)
    }
}
