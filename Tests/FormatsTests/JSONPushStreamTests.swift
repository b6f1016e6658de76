import TestSupport
import Testing

@testable import Formats

/// The JSON parser: the grammar of RFC 8259, pieces, limits and hostile bytes.
@Suite struct JSONPushStreamTests {
    /// Documents that JSON allows, with their events.
    private static let accepted: [(String, String)] = [
        ("[]", "0[ 0]"), ("{}", "0{ 0}"), ("[[]   ]", "0[ 1[ 1] 0]"), (" [] ", "0[ 0]"), ("\u{FEFF}{}", "0{ 0}"),
        ("\t\r\n[\t1\r,\n2 ]\n", "0[ 1#1 1#2 0]"), ("null", "0null"), ("true", "0true"), (" false\n", "0false"),
        ("42", "0#42"), ("-0.1 ", "0#-0.1"), ("\"asd\"", "0'asd'"), ("\"\"", "0''"),
        ("[null,true,false]", "0[ 1null 1true 1false 0]"),
        (#"{"a":{"b":[{}]},"":0}"#, "0{ 1a: 1{ 2b: 2[ 3{ 3} 2] 1} 1: 1#0 0}"),
        (#"{"a":1,"a":1}"#, "0{ 1a: 1#1 1a: 1#1 0}"), (#"{"a" : 1 , "b":2}"#, "0{ 1a: 1#1 1b: 1#2 0}"),
        (#"{"a\u0000b":"\u0000"}"#, "0{ 1a%00b: 1'%00' 0}"), (#"["a/*b*/c/*d//e"]"#, "0[ 1'a/*b*/c/*d//e' 0]"),
        // Numbers
        ("[0]", "0[ 1#0 0]"), ("[-0]", "0[ 1#-0 0]"), ("[123e65]", "0[ 1#123e65 0]"), ("[0e+1]", "0[ 1#0e+1 0]"),
        ("[0E1]", "0[ 1#0E1 0]"), ("[1E-2]", "0[ 1#1E-2 0]"), ("[123.456e78]", "0[ 1#123.456e78 0]"),
        ("[-1]", "0[ 1#-1 0]"), ("[1e1000000000000]", "0[ 1#1e1000000000000 0]"), ("[20e1,1.5]", "0[ 1#20e1 1#1.5 0]"),
        ("[-0.\(String(repeating: "0", count: 80))1]", "0[ 1#-0.\(String(repeating: "0", count: 80))1 0]"),
        // Escapes
        (#"["\"\\\/\b\f\n\r\t"]"#, "0[ 1'%22%5C/%08%0C%0A%0D%09' 0]"),
        (#"["\u0060\u012a\u12AB"]"#, "0[ 1'`%C4%AA%E1%8A%AB' 0]"),
        (#"["\uD801\udc37x"]"#, "0[ 1'%F0%90%90%B7x' 0]"),
        (#"["\ud83d\ude39\ud83d\udc8d"]"#, "0[ 1'%F0%9F%98%B9%F0%9F%92%8D' 0]"),
        (#"["\uDBFF\uDFFF\uFFFF"]"#, "0[ 1'%F4%8F%BF%BF%EF%BF%BF' 0]"), (#"["\\u0000\\"]"#, "0[ 1'%5Cu0000%5C' 0]"),
        (#"["\\a"]"#, "0[ 1'%5Ca' 0]"), (#"["new\u00A0line"]"#, "0[ 1'new%C2%A0line' 0]"),
        // Half of a surrogate pair alone becomes a replacement character.
        (#"["\uD800"]"#, "0[ 1'%EF%BF%BD' 0]"), (#"["\uDC00a"]"#, "0[ 1'%EF%BF%BDa' 0]"),
        (#"["\uD800\n"]"#, "0[ 1'%EF%BF%BD%0A' 0]"), (#"["\uD800\uD800x"]"#, "0[ 1'%EF%BF%BD%EF%BF%BDx' 0]"),
        (#"["\uD800\u0061"]"#, "0[ 1'%EF%BF%BDa' 0]"), (#"["\uD800\uD801\uDC37"]"#, "0[ 1'%EF%BF%BD%F0%90%90%B7' 0]"),
        (#"["\uDC37\uD801"]"#, "0[ 1'%EF%BF%BD%EF%BF%BD' 0]"),
        // UTF-8
        ("[\"\u{7F}é€\u{10FFFF}\u{FFFF}\"]", "0[ 1'%7F%C3%A9%E2%82%AC%F4%8F%BF%BF%EF%BF%BF' 0]"),
        ("[\"\u{2028}\u{2029}\"]", "0[ 1'%E2%80%A8%E2%80%A9' 0]"), ("{\"é\":\"π\"}", "0{ 1%C3%A9: 1'%CF%80' 0}"),
    ]

    @Test("Every document that JSON allows is read", arguments: accepted.indices)
    func accept(index: Int) throws {
        let (document, events) = Self.accepted[index]
        #expect(try Recorder.events(of: Array(document.utf8)) == events)
    }

    /// Documents that JSON forbids.
    private static let refused: [String] = [
        // Nothing, and more than one value
        "", " ", "\u{FEFF}", "1 2", "[][]", "[]]", "{}}", "{}#", "[1]x", "nullnull", "true false", "\"a\"\"b\"", "[],",
        // Cut
        "[", "{", "[1", "[1,", "[\"", "[\"a", "[\"\\", "[\"\\u", "[\"\\u00", "{\"", "{\"a", "{\"a\"", "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,", "[{", "[[[", "\"", "\"a", "-", "tru", "nul", "[fals", "{\"a\":t", "[\"a\",\n4\n,1,", "[{}",
        // Commas, colons and brackets
        "[1,]", "[,1]", "[1,,2]", "[,]", "[\"\",]", "[1 true]", "[3[4]]", "[1:2]", "[x", "[\"a\" \"b\"]", "[1}", "{]",
        "}", "]",
        ",", ":", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}", "{\"a\"}", "{\"a\":}", "{\"a\",1}", "{\"a\"::1}",
        "{\"a\":1 \"b\":2}", "{:1}", "{1:1}", "{null:1}", "{a:1}", "{'a':1}", "{\"a\" 1}", "{\"a\":1:2}", "{[]:1}",
        "{{}:1}",
        "{\"a\":1]", "[{\"a\":1]}", "[\"a\":1]", "['a']", "[*]", "<.>", "[<null>]", "{\"a\":/*b*/1}", "[1//a\n]",
        "{}/**/",
        // Words
        "[nul]", "[tru]", "[fals]", "[truth]", "[TRUE]", "[True]", "[nulll]", "[NaN]", "[Infinity]", "[-Infinity]",
        "[nan]",
        "a", "[undefined]", "tru e",
        // Numbers
        "[01]", "[-01]", "[00]", "[-]", "[+1]", "[.1]", "[-.1]", "[1.]", "[-1.]", "[1.e1]", "[0.e1]", "[.2e-3]", "[1e]",
        "[1e+]",
        "[1eE2]", "[0e]", "[0E+]", "[1.0e-]", "[1.2.3]", "[1+2]", "[1-2]", "[--1]", "[- 1]", "[1 000]", "[0x1]", "[0x]",
        "[1a]",
        "[1e1.5]", "[9.e+]", "[++1]", "[-1x]", "[123\u{0}]", "012", "-a", "[１]", "[1_000]", "[2.e3]", "[1e 2]", "-",
        "+1", "1.",
        // Texts
        "[\"\\x00\"]", "[\"\\a\"]", "[\"\\U0000\"]", "[\"\\'\"]", "[\"\\\n\"]", "[\"\\u12\"]", "[\"\\u12g4\"]",
        "[\"\\uqqqq\"]",
        "[\"\\u\"]", "[\"\\uD800\\u\"]", "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[\"\\\"]", "[\"\\\u{1F300}\"]",
        "[\"\\ \"]",
        "[\"a\u{0}a\"]", "[\"new\nline\"]", "[\"\t\"]", "[\"\u{1F}\"]", "[\"\r\"]", "[\\u0020\"a\"]", "[\\n]",
        "\\u000A\"\"",
        "{\"\n\":1}", "[é]", "[\"a\"é]", "{\"a\":1}é",
        // Blanks that are none
        "[\u{0C}]", "[\u{0B}]", "[\u{A0}]", "\u{2060}[]", "[\u{FEFF}]", "\u{0}", "[\u{0}]", "[]\u{0}",
        "\u{FEFF}\u{FEFF}[]", "[]\u{FEFF}",
    ]

    @Test("Every document that JSON forbids is refused", arguments: refused)
    func refuse(document: String) {
        #expect(throws: FormatError.self) { try Recorder.events(of: Array(document.utf8)) }
    }

    /// Bytes that are not UTF-8: cut, overlong, surrogates, beyond the last character, and lone bytes.
    private static let invalidTexts: [[UInt8]] = [
        [0xE5], [0xFF], [0x80], [0xC3], [0xC3, 0x28], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF],
        [0xE0, 0x9F, 0xBF],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28],
        [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF0, 0x90, 0x8D], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE],
        [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xFC], [0xC3, 0x5C, 0x6E], [0xC3, 0xC3, 0xA9],
        [0xA9, 0xC3],
    ]

    @Test("A text that is not UTF-8 is refused, or kept if the stream keeps such texts", arguments: invalidTexts)
    func invalid(text: [UInt8]) throws {
        let document = Array("[\"".utf8) + text + Array("\"]".utf8)
        #expect(throws: FormatError.malformedJSON(offset: 1, reason: "a text is not UTF-8")) {
            try Recorder.events(of: document)
        }
        let kept = text.last == 0x6E ? [0xC3, 0x0A] : text
        #expect(try Recorder.events(of: document, keepsInvalidText: true) == "0[ 1'\(Recorder.text(kept))' 0]")
        #expect(throws: FormatError.self) { try Recorder.events(of: text, keepsInvalidText: true) }
        #expect(throws: FormatError.self) { try Recorder.events(of: [0x5B] + text + [0x5D], keepsInvalidText: true) }
    }

    @Test(
        "Other encodings and half a byte order mark are refused",
        arguments: [
            [0xEF, 0xBB, 0x7B, 0x7D], [0xEF, 0x7B, 0x7D], [0xEF, 0xBB], [0xFE, 0xFF, 0x00, 0x5B, 0x00, 0x5D],
            [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], [0x5B, 0x00, 0x5D, 0x00],
        ] as [[UInt8]])
    func encodings(document: [UInt8]) {
        #expect(throws: FormatError.self) { try Recorder.events(of: document) }
    }

    @Test("A document cut anywhere gives the same events, and the same errors")
    func cuts() {
        var documents = Self.accepted.map { Array($0.0.utf8) } + Self.refused.map { Array($0.utf8) }
        documents += Self.invalidTexts.map { Array("{\"".utf8) + $0 + Array("\":1}".utf8) }
        documents.append(
            Array(
                (#"{"longer names":["\u00e9 and more than a word of bytes","#
                    + #""longer than sixteen bytes é",-123.456e+78,true,null]}"#).utf8))
        for document in documents {
            let whole = Recorder.outcome(of: [document])
            for cut in 0...document.count {
                #expect(Recorder.outcome(of: [Array(document[..<cut]), Array(document[cut...])]) == whole)
            }
            #expect(Recorder.outcome(of: document.map { [$0] }) == whole, "\(Recorder.text(document))")
        }
    }

    @Test("At most 100 objects and arrays contain each other", arguments: [("[", "]"), ("{\"a\":", "}")])
    func depth(begin: String, end: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let value = begin == "[" ? "" : "1"
            return Array((String(repeating: begin, count: depth) + value + String(repeating: end, count: depth)).utf8)
        }
        #expect(try Recorder.events(of: nested(100)).hasSuffix(begin == "[" ? " 0]" : " 0}"))
        #expect(throws: FormatError.tooDeep) { try Recorder.events(of: nested(101)) }
        #expect(throws: FormatError.tooDeep) {
            try Recorder.events(of: Array(String(repeating: begin, count: 100_000).utf8))
        }
    }

    @Test("Texts and numbers have limits, however they arrive", arguments: [1 << 30, 4_096, 7])
    func lengths(piece: Int) throws {
        func outcome(_ document: String) -> String { Recorder.outcome(of: document.utf8.pieces(of: piece)) }
        let most = JSONPushStream.maximumString
        let long = String(repeating: "x", count: most)
        #expect(outcome("\"\(long)\"") == "0'\(long)'")
        #expect(outcome("\"\(long.dropLast())\\n\"") == "0'\(long.dropLast())%0A'")
        let tooLong = "\(FormatError.malformedJSON(offset: 1, reason: "a text is longer than 1048576 bytes"))"
        for text in [
            long + "x\"", long + "\\n\"", long + "\\ud800\"", long + "x", long + "x\u{1}", long.dropLast() + "\\n\\n",
        ] {
            #expect(outcome("[\"" + text) == "0[ " + tooLong)
        }
        let digits = String(repeating: "1", count: JSONPushStream.maximumNumber)
        #expect(outcome(digits) == "0#" + digits && outcome("[\(digits)]") == "0[ 1#\(digits) 0]")
        let tooManyDigits = "\(FormatError.malformedJSON(offset: 1, reason: "a number is longer than 256 bytes"))"
        #expect(outcome("[\(digits)1]") == "0[ " + tooManyDigits && outcome("[\(digits)1") == "0[ " + tooManyDigits)
    }

    @Test("An error names the bytes before it, and stays")
    func errors() {
        func error(_ document: String) -> String { Recorder.outcome(of: document.utf8.pieces(of: 3)) }
        #expect(error("[1,]") == "0[ 1#1 The JSON has an error after 3 bytes: a value is missing.")
        #expect(error("{\"a\": 01}").hasSuffix("after 6 bytes: a number is not written as JSON requires."))
        #expect(error("[\"abc\ndef\"]").hasSuffix("after 5 bytes: a text contains a control character."))
        #expect(error("[true, falsy]").hasSuffix("after 11 bytes: a word is not true, false or null."))
        #expect(error("{\"a\":1") == "0{ 1a: The JSON has an error after 6 bytes: it ends too early.")
        #expect(error(" ").hasSuffix("The gallery file is empty."))
        var (stream, recorder) = (JSONPushStream(), Recorder())
        #expect(throws: FormatError.self) { try stream.push(Array("[x".utf8), to: &recorder) }
        #expect(throws: FormatError.malformedJSON(offset: 1, reason: "a value or a closing bracket is missing")) {
            try stream.push(Array("1]".utf8), to: &recorder)
        }
        #expect(throws: FormatError.self) { try stream.finish(to: &recorder) }
    }

    @Test("An error of the consumer stops the stream, and stays")
    func consumerError() {
        struct Stop: Error {}
        struct Stopping: JSONConsumer {
            var taken = 0
            mutating func take(_ event: JSONEvent, depth: Int) throws {
                taken += 1
                if taken == 2 { throw Stop() }
            }
        }
        for document in ["[1,2,3]", "[\"\\n\",2,3]", "[[],2]"] {
            var (stream, consumer) = (JSONPushStream(), Stopping())
            #expect(throws: Stop.self) { try stream.push(Array(document.utf8), to: &consumer) }
            #expect(throws: Stop.self) { try stream.finish(to: &consumer) }
            #expect(consumer.taken == 2)
        }
    }

    @Test("Mutated documents are read or refused alike, whole and in pieces", arguments: 0..<8)
    func mutations(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let seeds = Self.accepted.map { Array($0.0.utf8) }
        let alphabet =
            Array("[]{}\",:\\u0019-+.eEtrfalsn \n\tDd8Cc\u{0}".utf8) + [0x80, 0xC3, 0xE2, 0xED, 0xF0, 0xFF, 0xEF]
        var accepted = 0
        for _ in 0..<1_500 {
            var document = seeds.randomElement(using: &numbers) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let place = Int.random(in: 0...document.count, using: &numbers)
                let byte = alphabet.randomElement(using: &numbers) ?? 0
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0: document.insert(byte, at: place)
                case 1: if place < document.count { document[place] = byte }
                case 2: document.removeSubrange(place..<min(document.count, place + 2))
                default: document.insert(contentsOf: (seeds.randomElement(using: &numbers) ?? []).prefix(40), at: place)
                }
            }
            let whole = Recorder.outcome(of: [document])
            #expect(whole == Recorder.outcome(of: document[...].pieces(of: Int.random(in: 1...9, using: &numbers))))
            if !whole.hasSuffix(".") { accepted += 1 }
        }
        // Some must be valid, and most not, or the test tries nothing.
        #expect((50..<1_400).contains(accepted))
    }
}

/// Writes events as a text: the depth, and a sign or the value.
private struct Recorder: JSONConsumer {
    private(set) var events: [String] = []

    mutating func take(_ event: JSONEvent, depth: Int) {
        let text =
            switch event {
            case .beginObject: "{"
            case .endObject: "}"
            case .beginArray: "["
            case .endArray: "]"
            case .key(let name): Self.text(Array(name)) + ":"
            case .string(let text): "'\(Self.text(Array(text)))'"
            case .number(let digits): "#" + Self.text(Array(digits))
            case .bool(let value): "\(value)"
            case .null: "null"
            }
        events.append("\(depth)\(text)")
    }

    /// Returns the events of a whole document.
    static func events(of document: [UInt8], keepsInvalidText: Bool = false) throws -> String {
        var (stream, recorder) = (JSONPushStream(keepsInvalidText: keepsInvalidText), Recorder())
        try stream.push(document, to: &recorder)
        try stream.finish(to: &recorder)
        return recorder.events.joined(separator: " ")
    }

    /// Returns the events of pieces, and the error that ends them.
    static func outcome(of pieces: [[UInt8]]) -> String {
        var (stream, recorder) = (JSONPushStream(), Recorder())
        do {
            for piece in pieces { try stream.push(piece, to: &recorder) }
            try stream.finish(to: &recorder)
        } catch {
            recorder.events.append("\(error)")
        }
        return recorder.events.joined(separator: " ")
    }

    /// Returns printable ASCII as it is, and other bytes as escapes.
    static func text(_ bytes: [UInt8]) -> String {
        if bytes.allSatisfy({ $0 == 0x78 }) { return String(decoding: bytes, as: UTF8.self) }
        return bytes.map { byte in
            (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C || byte == 0x20
                ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension Collection<UInt8> {
    /// Returns the bytes in pieces of this length.
    fileprivate func pieces(of length: Int) -> [[UInt8]] {
        let bytes = Array(self)
        return stride(from: 0, to: bytes.count, by: length).map {
            Array(bytes[$0..<$0 + Swift.min(length, bytes.count - $0)])
        }
    }
}
