import Model

/// Parses a Piwigo server's answer. Passes on the events of the answer's result.
///
///     {"stat": "ok", "result": …}
///     {"stat": "fail", "err": 401, "message": "Access denied"}
struct PiwigoAnswer<Result: ItemReader> {
    private var answer: JSONAnswer<PiwigoMembers<Result>>
    private var hasBegun = false

    /// The reader of the result. It receives the events as if the result were a document of its own.
    var result: Result { answer.reader.result }

    init(_ result: Result) {
        answer = JSONAnswer(PiwigoMembers(result))
    }

    /// Parses the next bytes. Returns the result's items that are complete.
    mutating func parse(_ bytes: [UInt8]) throws -> [Result.Item] {
        if !hasBegun, let first = bytes.first(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }) {
            // PHP writes its error messages as web pages, too.
            guard first != UInt8(ascii: "<") else { throw FormatError.notAGallery("a web page") }
            hasBegun = true
        }
        return try answer.parse(bytes)
    }

    /// Parses the end of the document. Throws if the answer is incomplete, a refusal, or without the expected result.
    mutating func finish() throws -> [Result.Item] { try answer.finish() }
}

/// Reads the members of an answer's outermost object.
private struct PiwigoMembers<Result: ItemReader>: ItemReader {
    private enum Member { case status, code, message, result }

    private(set) var result: Result
    private var member: Member?
    private var hasResult = false
    private var (isRefused, isOK) = (false, false)
    private var code = 0
    private var message = ""

    /// The maximum number of bytes of a refusal's message that are kept.
    private static var longestMessage: Int { 200 }

    init(_ result: Result) {
        self.result = result
    }

    var items: [Result.Item] {
        get { result.items }
        set { result.items = newValue }
    }

    /// Throws if the answer is a refusal, no answer of Piwigo, or without the expected result.
    func check() throws {
        if isRefused { throw FormatError.refused(code: code, reason: message) }
        guard isOK, hasResult else { throw FormatError.notAGallery("an answer of a server that is not Piwigo") }
        try result.check()
    }

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        switch (depth, event) {
        case (0, .beginObject), (0, .endObject): break
        case (0, _): throw FormatError.notAGallery("an answer of a server that is not Piwigo")
        case (1, .key(let name)):
            member =
                switch name.count {
                case 4 where name.isText("stat"): .status
                case 3 where name.isText("err"): .code
                case 7 where name.isText("message"): .message
                case 6 where name.isText("result"): .result
                default: nil
                }
        case (_, _) where member == .result:
            hasResult = true
            try result.take(event, depth: depth - 1)
        case (1, .string(let text)) where member == .status:
            isOK = text.isText("ok")
            isRefused = text.isText("fail")
        case (1, _) where member == .code: code = PiwigoValue.number(event) ?? 0
        case (1, .string(let text)) where member == .message:
            let plain = text.prefix(Self.longestMessage).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
            message = String(decoding: plain, as: UTF8.self)
        default: break
        }
    }
}

/// The numbers and times in a Piwigo server's answers. Older servers write numbers as strings.
enum PiwigoValue {
    /// Returns the text of an id, which is a positive number. Returns nil for other texts, because ids are part of
    /// requests.
    static func id(_ event: JSONEvent) -> String? {
        guard let text = digits(event), !text.hasPrefix("0") else { return nil }
        return text
    }

    /// Returns a number. Numbers above a billion become a billion. Returns nil for other values.
    static func number(_ event: JSONEvent) -> Int? {
        guard let digits = digits(event) else { return nil }
        guard digits.utf8.count <= 9 else { return 1_000_000_000 }
        return digits.utf8.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Returns a time such as `2024-05-06 07:08:09`, as if it were UTC. Returns nil for other values.
    static func time(_ event: JSONEvent) -> Timestamp? {
        guard case .string(let text) = event, text.count == 19, text[10] == UInt8(ascii: " ") else { return nil }
        let (day, clock) = (text.prefix(10), text.dropFirst(11))
        return Timestamp(
            iso8601: String(decoding: day, as: UTF8.self) + "T" + String(decoding: clock, as: UTF8.self) + "Z")
    }

    private static func digits(_ event: JSONEvent) -> String? {
        let text: UnsafeRawBufferPointer
        switch event {
        case .number(let number): text = number
        case .string(let string): text = string
        default: return nil
        }
        guard (1...18).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
