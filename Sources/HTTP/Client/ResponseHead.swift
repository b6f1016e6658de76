import Glibc
import Numbers

/// The headers of an answer, collected line by line. Of several answers, such as 100 and 200, only the last answer
/// counts.
struct ResponseHead {
    /// The header values by names in lower case. If a header is repeated, the last one counts, but all `Set-Cookie`
    /// values are kept, as lines.
    private(set) var headers: [String: String] = [:]
    /// All header lines that request credentials, in order.
    private(set) var challenges: [(isProxy: Bool, text: String)] = []
    /// The value of the first `Location` header.
    private(set) var location: String?
    /// Whether the head states two different lengths. RFC 9112, section 6.3: "the message framing is invalid and the
    /// recipient MUST treat it as an unrecoverable error".
    var hasTwoLengths: Bool { headers["transfer-encoding"] == nil && lengths.count > 1 }
    private var lengths: Set<Substring> = []
    private var status = 0
    /// Whether the head has ended with an empty line.
    private(set) var isComplete = false
    private var isBegun = false
    private var lastName = ""
    /// The number of bytes of all header lines, including earlier answers' lines.
    private var size = 0

    /// The maximum number of bytes of header lines: more than servers send, and small enough for memory.
    private static let maximumSize = 1 << 16

    var isEmpty: Bool { size == 0 }

    /// Adds a line. Returns false if the lines are too long together.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        size += line.count
        guard size <= Self.maximumSize else { return false }
        let exact = String(validating: line, as: UTF8.self)
        let text = exact ?? String(decoding: line, as: UTF8.self)
        guard isBegun else {
            begin(text)
            return true
        }
        isComplete = text.allSatisfy(\.isNewline)
        if isComplete {
            // A body or another answer follows.
            isBegun = false
        } else if text.first == " " || text.first == "\t" {
            // RFC 9112, section 5.2: a continuation of the line before.
            headers[lastName, default: ""] += " " + text[...].trimmed
        } else if let colon = text.firstIndex(of: ":") {
            let name = text[..<colon].lowercased()
            let value = exact == nil && name == "location" ? Self.escapedValue(line) : text[text.index(after: colon)...]
            take(name, value.trimmed, isExact: exact != nil)
        }
        return true
    }

    /// Returns the text after the colon, with escapes for all bytes that are not ASCII.
    private static func escapedValue(_ line: UnsafeRawBufferPointer) -> Substring {
        let bytes = line.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        let parts = bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16, uppercase: true) }
        return parts.joined()[...]
    }

    private mutating func begin(_ text: String) {
        // Other lines are trailers after the body, which are ignored.
        guard text.hasPrefix("HTTP/") else { return }
        let size = size
        self = ResponseHead()
        self.size = size
        isBegun = true
        status = text.split(separator: " ").dropFirst().first.flatMap { Int(digits: $0.prefix(3)) } ?? 0
    }

    /// - Parameter isExact: whether the line was UTF-8, so that the value has the server's bytes.
    private mutating func take(_ name: String, _ value: String, isExact: Bool) {
        lastName = name
        // Vitrine could not return another ETag to the server, and two of them could look equal.
        guard isExact || name != "etag" else { return }
        // Unlike other headers, two `Set-Cookie` headers cannot be joined with a comma (RFC 9110, section 5.3), so they
        // are joined with a line feed.
        headers[name] = name == "set-cookie" ? headers[name].map { $0 + "\n" + value } ?? value : value
        switch name {
        case "location": location = location ?? value
        case "content-length": lengths.formUnion(value.split { $0 == "," || $0.isWhitespace })
        case "www-authenticate": challenges.append((false, value))
        case "proxy-authenticate": challenges.append((true, value))
        default: break
        }
    }

    /// The body length that a successful answer's headers state; nil before the last header. Too great a number becomes
    /// the greatest byte count.
    var declaredLength: ByteCount? {
        // RFC 9112, section 6.3: "the Transfer-Encoding overrides the Content-Length".
        guard isComplete, [200, 206, 207].contains(status), headers["transfer-encoding"] == nil else { return nil }
        return headers["content-length"].flatMap { ByteCount(digits: $0) }
    }
}

extension Substring {
    /// The text without white space and line ends at its ends.
    fileprivate var trimmed: String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// Reads dates in HTTP headers.
public enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` into seconds since 1970. Returns nil for other formats. RFC 9110, section
    /// 5.6.7, has two more formats, which are obsolete.
    public static func seconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), text.hasSuffix(" GMT") else { return nil }
        let parts = text.split(separator: " ")
        guard parts.count == 6, let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(parts[1], 2, 1...31), let year = number(parts[3], 4, 1601...9999), clock.count == 3,
            let hour = number(clock[0], 2, 0...23), let minute = number(clock[1], 2, 0...59),
            let second = number(clock[2], 2, 0...60)
        else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, Int32(clamping: month), day)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return timegm(&time)
    }

    /// Returns the seconds from one date to another. The result is negative if the second date is earlier. Returns nil
    /// if one of the dates is invalid.
    public static func seconds(from first: String, to second: String) -> Int? {
        // Years have four digits, so this cannot overflow.
        guard let first = seconds(first), let second = seconds(second) else { return nil }
        return second - first
    }

    private static func number(_ digits: Substring, _ count: Int, _ range: ClosedRange<Int32>) -> Int32? {
        guard digits.utf8.count == count, let number = Int32(digits: digits) else { return nil }
        return range.contains(number) ? number : nil
    }
}

/// The head of a request or an answer for the log. It is one line, without passwords, cookies and tokens.
struct HTTPHeadText: CustomStringConvertible {
    /// The lines of the head, separated by ` | `.
    let description: String

    /// Parts of the names of headers whose values are secret.
    private static let secretParts = [
        "auth", "cookie", "token", "secret", "key", "session", "sign", "pass", "credential", "csrf", "jwt", "ticket",
        "otp",
    ]
    /// The headers without secrets whose names contain one of the ``secretParts``.
    private static let questions = ["www-authenticate", "proxy-authenticate"]

    /// - Parameter credentials: the request's credentials, which may have a header of their own.
    init(_ text: String, hiding credentials: HTTPRequest.Credentials?) {
        var own: String?
        if case .header(let name, _)? = credentials?.kind { own = name.lowercased() }
        var isSecret = false
        let lines = text.split(whereSeparator: \.isNewline).map { line -> String in
            // A line that begins with white space continues the header before.
            guard line.first?.isWhitespace != true else { return isSecret ? " …" : Self.withoutUser(line) }
            let name = line.prefix { $0 != ":" }.lowercased().filter { !$0.isWhitespace }
            let isHeader = line.contains(":") && !line.hasPrefix("HTTP/") && !name.contains("/")
            isSecret =
                isHeader && !Self.questions.contains(name)
                && (name == own || Self.secretParts.contains { name.contains($0) })
            return isSecret ? line.prefix { $0 != ":" } + ": …" : Self.withoutUser(line)
        }
        description = lines.joined(separator: " | ")
    }

    /// Replaces the user and password in addresses of a line.
    private static func withoutUser(_ line: Substring) -> String {
        var (result, rest) = ("", line)
        while let start = rest.firstRange(of: "://") {
            result += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
            let place = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace }
            if let at = place.lastIndex(of: "@") {
                result += "…"
                rest = rest[at...]
            }
        }
        return result + rest
    }
}
