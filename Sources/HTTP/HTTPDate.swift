import CCurl

/// The dates of headers.
enum HTTPDate {
    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for what is written otherwise. Of curl's many formats
    /// only this one is sent by servers to programs, and all others are guesses.
    static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), text.hasSuffix(" GMT") else { return nil }
        let seconds = curl_getdate(text, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }
}
