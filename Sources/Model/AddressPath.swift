/// The path of a URL, brought into its normal form.
enum AddressPath {
    static func normalised(_ path: String) -> String {
        let encoded = PercentEncoding.encode(path, keepingEscapes: true, also: "/")
        return withoutDotSegments(encoded.hasPrefix("/") ? encoded : "/" + encoded)
    }

    /// Removes `.` and `..` (RFC 3986, section 5.2.4); a `..` at the root goes nowhere.
    static func withoutDotSegments(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            // `%2e` is a dot to every server that decodes before it looks, so it is one here.
            switch segment.utf8.count <= 6 ? segment.lowercased() : "" {
            case ".", "%2e":
                if isLast { kept.append("") }
            case "..", ".%2e", "%2e.", "%2e%2e":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
