import Text

extension Address {
    /// The same address, asked for by somebody else.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// The same address with the secrets that another has in its query, where this one lacks them.
    public func restoringSecrets(of other: Address) -> Address {
        guard lacksSecrets, let query, let held = other.query else { return self }
        func parameters(_ query: String) -> [Substring] {
            query.split(separator: "&", omittingEmptySubsequences: false)
        }
        func name(_ parameter: Substring) -> Substring { parameter.prefix { $0 != "=" } }
        let restored = parameters(query).map { parameter in
            guard parameter.hasSuffix("=" + PercentEncoding.encode("…", keepingEscapes: false)) else {
                return parameter
            }
            return parameters(held).first { name($0) == name(parameter) } ?? parameter
        }
        return Address(
            scheme: scheme, host: host, port: port, path: path, query: restored.joined(separator: "&"),
            credentials: credentials)
    }

    /// A text without who asks, in whatever addresses it holds, and without the secrets in their queries: what may be said of
    /// what somebody typed.
    ///
    ///     Address.withoutCredentials("“http://me:s3cret@example.org/” is one too many")  // “http://example.org/” is …
    public static func withoutCredentials(_ text: String) -> String {
        let text = text.withoutSecrets
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
