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

    func string(_ info: CURLINFO) -> String {
        var value: UnsafePointer<CChar>?
        vitrine_curl_get_string(self, info, &value)
        return value.map { String(cString: $0) } ?? ""
    }

    var metrics: HTTPMetrics {
        HTTPMetrics(
            bytes: offset(CURLINFO_SIZE_DOWNLOAD_T),
            duration: Double(offset(CURLINFO_TOTAL_TIME_T)) / 1e6,
            connected: long(CURLINFO_NUM_CONNECTS) > 0 ? Double(offset(CURLINFO_CONNECT_TIME_T)) / 1e6 : 0,
            firstByte: Double(offset(CURLINFO_STARTTRANSFER_TIME_T)) / 1e6,
            redirects: 0)
    }
}
