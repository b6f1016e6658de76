import Text

/// The part of a URL between `//` and the path: `user:password@host:port`.
struct AddressAuthority {
    let host: String
    let port: Int?
    let credentials: Address.Credentials?

    init(_ text: String) throws(AddressError) {
        // Some clients end the host at a backslash, some take it for part of the user: no two need agree on whose
        // host this is.
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw .host(Self.withoutPassword(text)) }
        var rest = Substring(text)
        // The last @: a password may hold one that was not encoded, a host cannot.
        if let at = rest.lastIndex(of: "@") {
            let pair = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            credentials = Address.Credentials(
                user: PercentEncoding.decode(String(pair[0])),
                password: pair.count > 1 ? PercentEncoding.decode(String(pair[1])) : "")
            rest = rest[rest.index(after: at)...]
        } else {
            credentials = nil
        }
        let bracket = rest.hasPrefix("[") ? rest.firstIndex(of: "]") : nil
        if let colon = rest[(bracket ?? rest.startIndex)...].firstIndex(of: ":") {
            port = try Self.port(rest[rest.index(after: colon)...])
            rest = rest[..<colon]
        } else {
            port = nil
        }
        guard !rest.isEmpty else { throw .noHost }
        // As it is looked up: so one host has one address, however its name is written.
        guard let host = HostName.ascii(String(rest)), Self.isHost(host, bracketed: bracket != nil) else {
            throw .host(String(rest))
        }
        self.host = host
    }

    private static func withoutPassword(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@"), text[..<at].contains(":") else { return text }
        return String(text[text.index(after: at)...])
    }

    private static func port(_ digits: Substring) throws(AddressError) -> Int? {
        if digits.isEmpty { return nil }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { throw .port(String(digits)) }
        return port
    }

    private static func isHost(_ host: String, bracketed: Bool) -> Bool {
        if bracketed {
            return host.hasSuffix("]")
                && host.utf8.dropFirst().dropLast().allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
        }
        return host.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}
