import Numbers

/// The header lines that go out at a hop, besides those that curl writes.
enum RequestHeaders {
    static func lines(of request: HTTPRequest, at hop: Hop) -> [String] {
        // What the user's own server may know of us is nobody else's business.
        var lines = hop.isOwn ? request.headers.compactMap { line($0.name, $0.value) } : []
        // The bytes that are there were not compressed.
        let end = request.range.map { "\($0.upperBound - 1)" } ?? ""
        if let resumption = request.resumption(at: hop), let validator = line("If-Range", resumption.validator) {
            lines += ["Range: bytes=\(resumption.offset)-\(end)", validator, "Accept-Encoding: identity"]
        } else if request.resumption == nil, let range = request.range {
            lines += ["Range: bytes=\(range.lowerBound)-\(end)", "Accept-Encoding: identity"]
        }
        return lines
    }

    /// A line for curl, which sends it as it is. One that would not stay a single line is left out.
    private static func line(_ name: String, _ value: String) -> String? {
        let isSound = !name.isEmpty && (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isSound, !name.contains(":") else { return nil }
        // "If you add a header with no content as in 'Accept:' …, it will be disabled."
        return value.isEmpty ? "\(name);" : "\(name): \(value)"
    }
}
