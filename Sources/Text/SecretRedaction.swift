extension String {
    /// The text without the values of secret address parameters, such as tokens, signatures and keys.
    ///
    ///     "http://a.org/?page=2&access_token=s3cret".withoutSecrets    // "http://a.org/?page=2&access_token=…"
    ///
    /// The property works for queries, for addresses and for messages that contain addresses. A second application
    /// changes nothing. A value ends at `&`, `#`, `<`, `>`, white space or a quotation mark.
    public var withoutSecrets: String {
        guard utf8.contains(UInt8(ascii: "=")) else { return self }
        var (result, rest) = ("", self[...])
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].suffix(while: { !Self.separators.contains($0) && !$0.isWhitespace })
            result += rest[...equals]
            rest = rest[rest.index(after: equals)...]
            guard Self.isSecret(name) else { continue }
            let value = rest.prefix { !Self.ends.contains($0) && !$0.isWhitespace }
            if !value.isEmpty { result += "…" }
            rest = rest[value.endIndex...]
        }
        return result + rest
    }

    /// The characters that precede a parameter's name.
    private static let separators: Set<Character> = ["?", "&", "#", ";", "“", "\"", "'"]
    /// The characters that end a parameter's value.
    private static let ends: Set<Character> = ["&", "#", "“", "”", "\"", "'", "<", ">"]

    /// The names of secret parameters, reduced to lower-case letters and digits.
    private static let secretNames: Set<String> = [
        "key", "sig", "auth", "pass", "pwd", "code", "sid", "session", "jwt", "bearer", "ticket", "otp",
        "authorization",
    ]
    /// The endings of longer names of secret parameters, such as `token` in `access_token`.
    private static let secretEndings = [
        "token", "signature", "password", "passwd", "passphrase", "secret", "credential", "credentials", "apikey",
        "accesskey", "authkey", "sessionid", "sharekey",
    ]

    private static func isSecret(_ name: some StringProtocol) -> Bool {
        var bytes = Array(name.utf8)[...]
        var letters: [UInt8] = []
        while let byte = bytes.popFirst() {
            // Skip escaped characters, which separate words.
            if byte == UInt8(ascii: "%") { bytes = bytes.dropFirst(2) }
            let small = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            if (0x61...0x7A).contains(small) || (0x30...0x39).contains(small) { letters.append(small) }
        }
        let plain = String(decoding: letters, as: UTF8.self)
        return secretNames.contains(plain) || secretEndings.contains { plain.hasSuffix($0) }
    }
}

extension Substring {
    /// Returns the longest suffix whose characters all satisfy a condition.
    fileprivate func suffix(while isPart: (Character) -> Bool) -> Substring {
        self[(lastIndex { !isPart($0) }.map { index(after: $0) } ?? startIndex)...]
    }
}
