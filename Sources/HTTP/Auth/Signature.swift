import CCurl

/// A storage service's access key, which signs requests (AWS Signature Version 4).
///
/// curl computes the signature over the method, the address, and all headers of the request. curl 7.88 signs the
/// address as it is written, but servers compute the signature of its canonical form. So the address must already have
/// this form.
struct Signature: Hashable, Sendable {
    let id: String
    let secret: String
    let sessionToken: String?
    let region: String

    /// The digest of an empty body. AWS requires a header with the digest. curl 7.88 includes the digest in the
    /// signature, but does not send the header.
    private static let digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// The value in place of the digest of an unsigned body.
    private static let unsigned = "UNSIGNED-PAYLOAD"

    /// Returns the headers that belong to the signature of a request.
    func headers(of request: HTTPRequest) -> [(name: String, value: String)] {
        let digest = request.upload.map { $0.digest ?? Self.unsigned } ?? Self.digestOfNothing
        return [("x-amz-content-sha256", digest)] + (sessionToken.map { [("x-amz-security-token", $0)] } ?? [])
    }

    /// Sets curl's options for the signature.
    func apply(to easy: EasyHandle) {
        easy.set(CURLOPT_USERNAME, id)
        easy.set(CURLOPT_PASSWORD, secret)
        easy.set(CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3")
    }

    /// Returns the canonical form of a URL.
    ///
    /// Every byte is encoded except letters, digits, `-._~` and the slashes of the path. The fields of the query are
    /// sorted.
    static func canonical(_ url: String) -> String {
        guard let mark = url.firstRange(of: "://"), let slash = url[mark.upperBound...].firstIndex(of: "/") else {
            return url
        }
        let rest = url[slash...].utf8
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        let fields = rest.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")).map { field in
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            return encoded(name) + "=" + encoded(field.dropFirst(name.count + 1))
        }
        return url[..<slash] + encoded(path, keeping: UInt8(ascii: "/"))
            + (fields.isEmpty
                ? "" : "?" + fields.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&"))
    }

    /// Returns a text with the canonical percent escapes. The decoded text stays the same.
    private static func encoded(_ text: Substring.UTF8View, keeping kept: UInt8? = nil) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let resolved = PercentEscape.byte(rest.prefix(2)) {
                rest = rest.dropFirst(2)
                append(resolved)
            } else if byte == kept {
                bytes.append(byte)
            } else {
                append(byte)
            }
        }
        func append(_ byte: UInt8) {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
