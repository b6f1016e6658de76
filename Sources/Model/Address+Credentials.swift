extension Address {
    /// The same address, asked for by somebody else.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// A text without who asks, in whatever addresses it holds: what may be said of what somebody typed.
    ///
    ///     Address.withoutCredentials("“http://me:s3cret@example.org/” is one too many")  // “http://example.org/” is …
    public static func withoutCredentials(_ text: String) -> String {
        guard text.contains("@") else { return text }
        var (result, rest) = ("", text[...])
        while let mark = rest.firstRange(of: "://") {
            result += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace }
            if let end = authority.lastIndex(of: "@") { rest = rest[rest.index(after: end)...] }
        }
        return result + rest
    }
}
