import TestSupport

/// A random answer: mostly one that a server might give, with a few mistakes.
struct AnswerMangling {
    private var numbers: SeededNumbers
    private let seed: UInt64
    private let hop: UInt64

    init(seed: UInt64, hop: UInt64) {
        numbers = SeededNumbers(seed: seed &* 31 &+ hop)
        (self.seed, self.hop) = (seed, hop)
    }

    /// The bytes to send, and how to send them.
    mutating func steps() -> [ScriptedServer.Step] {
        var bytes: [UInt8] = []
        // Interim answers, such as 100 and 103.
        while chance(12) { bytes += head(status: pick(["100", "102", "103", "199"]), body: []) }
        let status = self.status()
        let body = self.body()
        bytes += head(status: status, body: body)
        bytes += isChunked ? chunks(body) : body
        if chance(3) { for _ in 0..<Int.random(in: 1...5, using: &numbers) { damage(&bytes) } }
        if chance(6) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &numbers)) }
        return deliver(bytes)
    }

    /// Whether the head announces a chunked body.
    private var isChunked = false

    private mutating func deliver(_ bytes: [UInt8]) -> [ScriptedServer.Step] {
        var steps: [ScriptedServer.Step] = []
        if chance(3), bytes.count > 2 {
            let cut = Int.random(in: 1..<bytes.count, using: &numbers)
            steps = [.send(Array(bytes[..<cut])), .deliver, .send(Array(bytes[cut...]))]
        } else {
            steps = [.send(bytes)]
        }
        switch Int.random(in: 0..<400, using: &numbers) {
        case 0: break  // The connection stays open, whatever is missing.
        case 1..<60: steps.append(.reset)
        case 60..<100: steps += [.deliver, .reset]
        default: steps.append(.close)
        }
        return steps
    }

    // MARK: - The head

    private mutating func status() -> String {
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...3: "200"
        case 4: "206"
        case 5: pick(["301", "302", "303", "307", "308"])
        case 6:
            pick(["204", "205", "304", "401", "403", "404", "407", "408", "410", "416", "425", "429", "500", "503"])
        case 7: pick(["401", "407"])
        case 8: pick(["302", "200", "206"])
        default: chance(2) ? number() : pick(["0", "099", "299", "999", "2000", "-1", "20", "2 0", "abc", ""])
        }
    }

    private mutating func head(status: String, body: [UInt8]) -> [UInt8] {
        let version =
            chance(20) ? pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2", "HTTP/3", "HTTP/9.9", "ICY", "http/1.1"]) : "HTTP/1.1"
        var lines = ["\(version) \(status) \(chance(9) ? filling() : "Some words")"]
        isChunked = chance(4)
        if isChunked {
            lines.append(
                "Transfer-Encoding: " + (chance(6) ? pick(["gzip, chunked", "chunked, chunked", "x", ""]) : "chunked"))
        }
        if !isChunked || chance(8) { lines += lengths(body) }
        if status == "206" || chance(8) { lines += ranges(body) }
        if status.hasPrefix("3") || chance(15) { lines.append("Location: \(location())") }
        if ["401", "407"].contains(status) || chance(20) { lines += challenges() }
        if ["429", "503"].contains(status) || chance(12) {
            lines.append("Retry-After: \(chance(3) ? date() : number())")
        }
        if chance(2) { lines.append("ETag: " + pick(["\"a\"", "\"a\"", "W/\"a\"", "a", "\"", "\"b\"", filling()])) }
        if chance(4) { lines.append("Last-Modified: \(date())") }
        if chance(4) { lines.append("Date: \(date())") }
        if chance(3) {
            lines.append("Content-Encoding: " + pick(["gzip", "deflate", "br", "zstd", "identity", "gzip, gzip", "x"]))
        }
        if chance(3) {
            lines.append("Content-Type: " + pick(["application/xml", "image/jpeg", "text/html", filling()]))
        }
        if chance(4) { lines.append("Accept-Ranges: " + pick(["bytes", "none", filling()])) }
        if chance(6) { lines.append("Connection: " + pick(["close", "keep-alive", "Upgrade, HTTP2-Settings", "x"])) }
        if chance(30) { lines += ["Connection: Upgrade", "Upgrade: " + pick(["h2c", "websocket", filling()])] }
        if chance(9) { lines.append("Set-Cookie: a=\(filling()); Max-Age=\(number())") }
        if chance(9) { lines.append("Age: \(number())") }
        if chance(12) { lines.append(pick([": x", "x", " folded", "\tfolded", "A B: c", "\u{0}: \u{0}", "é: ü"])) }
        if chance(60) { lines += (0..<Int.random(in: 100...3_000, using: &numbers)).map { "X-\($0): y" } }
        lines.shuffleTail(using: &numbers)
        let end = chance(25) ? pick(["\n", "\r", "\r\r\n"]) : "\r\n"
        return Array((lines.joined(separator: end) + end + end).utf8)
    }

    private mutating func lengths(_ body: [UInt8]) -> [String] {
        if chance(12) { return [] }
        if chance(4) { return ["Content-Length: \(number())"] }
        if chance(20) { return ["Content-Length: \(body.count)", "Content-Length: \(number())"] }
        if chance(30) { return ["Content-Length: \(body.count), \(body.count)"] }
        return ["Content-Length: \(body.count)"]
    }

    private mutating func ranges(_ body: [UInt8]) -> [String] {
        if chance(8) { return [] }
        if chance(3) { return ["Content-Range: bytes \(number())-\(number())/\(chance(5) ? "*" : number())"] }
        let first = chance(2) ? 0 : Int.random(in: 0...4_096, using: &numbers)
        let unit = chance(20) ? pick(["items", "Bytes", "", "bytes:"]) : "bytes"
        return [
            "Content-Range: \(unit) \(first)-\(first + max(0, body.count - 1))/\(chance(3) ? number() : "\(first + body.count)")"
        ]
    }

    private mutating func location() -> String {
        let onward = "/\(seed)/\(hop + 1)"
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0...5: return onward
        case 6: return "/\(seed)/\(hop)"
        case 7: return "http://127.0.0.1:\(number())\(onward)"
        case 8:
            return pick(["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/", "javascript:1", "data:,x"])
        case 9:
            return pick([
                "//", "http://", "http:///x", "?", "#", "..", "http://[::1]:1/", "http://a b/", "//127.0.0.1:9/",
            ])
        case 10: return filling() + onward
        default: return "http://u:p@127.0.0.1:1\(onward)?\(filling())#\(filling())"
        }
    }

    private mutating func challenges() -> [String] {
        (0..<Int.random(in: 1...(chance(30) ? 500 : 3), using: &numbers)).map { _ in
            let name = chance(3) ? "Proxy-Authenticate" : "WWW-Authenticate"
            let scheme = pick(["Basic", "Digest", "Bearer", "Negotiate", "NTLM", "DummyBasic", "", filling()])
            let parts = (0..<Int.random(in: 0...6, using: &numbers)).map { _ in
                pick(["realm", "nonce", "qop", "algorithm", "opaque", "stale", "userhash", "x", ""])
                    + pick(["=", " = ", ""])
                    + pick(["\"\(filling())\"", "\"auth,auth-int\"", "MD5-sess", "SHA-512-256", "\"", "true", number()])
            }
            return "\(name): \(scheme) \(parts.joined(separator: chance(5) ? " " : ", "))"
        }
    }

    private mutating func date() -> String {
        if chance(4) { return filling() }
        let day = chance(4) ? number() : "06"
        let year = chance(3) ? number() : "2026"
        let hour = chance(5) ? number() : "08"
        return "Sun, \(day) \(pick(["Nov", "Feb", "nov", "XXX"])) \(year) \(hour):49:37 \(chance(8) ? "+0100" : "GMT")"
    }

    // MARK: - The body

    private mutating func body() -> [UInt8] {
        let length =
            chance(40) ? Int.random(in: 0...400_000, using: &numbers) : Int.random(in: 0...3_000, using: &numbers)
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: return Array("<album><photo id='1' name='a' date='2006-07-30T07:47:17Z'/></album>".utf8)
        case 1: return stored(Array(repeating: 0x61, count: min(length, 60_000)))
        default:
            var noise = numbers
            defer { _ = numbers.next() }
            return (0..<length).map { _ in UInt8(truncatingIfNeeded: noise.next()) }
        }
    }

    /// A gzip file with one stored block, sometimes with a wrong length in its trailer.
    private mutating func stored(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(bytes.count)
        let crc = ~bytes.reduce(~UInt32(0)) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        let size = chance(4) ? UInt32.max : UInt32(bytes.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + little(UInt32(length), 2) + little(UInt32(~length), 2)
            + bytes
            + little(crc, 4) + little(size, 4)
    }

    private func little(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }

    private mutating func chunks(_ body: [UInt8]) -> [UInt8] {
        var (rest, bytes) = (body[...], [UInt8]())
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...1_000, using: &numbers))
            rest = rest.dropFirst(piece.count)
            let size =
                chance(30)
                ? pick(["FFFFFFFFFFFFFFFF", "7FFFFFFFFFFFFFFF", "-1", "", "g", number()])
                : String(piece.count, radix: 16)
            bytes += Array((size + (chance(9) ? ";a=\(filling())" : "") + "\r\n").utf8) + piece + [13, 10]
        }
        let trailer = chance(6) ? "Content-Length: \(number())\r\nX: \(filling())\r\n" : ""
        return bytes + Array("0\r\n\(trailer)\r\n".utf8)
    }

    // MARK: - Chance

    /// Returns true once in so many times.
    private mutating func chance(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &numbers) == 0 }

    private mutating func pick(_ words: [String]) -> String { words.randomElement(using: &numbers) ?? "" }

    /// A number near a power of two, written in one of many ways.
    private mutating func number() -> String {
        if chance(12) {
            return pick([
                "", "+1", "-1", " 1", "1 ", "0x10", "1e9", "NaN", "inf", "1.5", "٣", "99999999999999999999999",
            ])
        }
        // Machine words end here, so most mistakes are made here.
        let exponent =
            chance(3)
            ? [31, 32, 63, 63, 64].randomElement(using: &numbers) ?? 63 : Int.random(in: 0...64, using: &numbers)
        let power = exponent == 64 ? UInt64.max : UInt64(1) << UInt64(exponent)
        let near = power &+ UInt64(bitPattern: Int64.random(in: -3...3, using: &numbers))
        let sign = chance(15) ? "-" : ""
        return sign + (chance(15) ? "000000" : "") + String(near)
    }

    /// Unexpected text.
    private mutating func filling() -> String {
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: ""
        case 1:
            String(
                repeating: pick(["a", "%", "\"", "\\", "/", ",", "é"]),
                count: Int.random(in: 1...3_000, using: &numbers))
        case 2: "\u{1B}]52;c;AAAA\u{7}"
        case 3: pick(["%00", "%0d%0a", "\u{0}", "\u{85}", "\u{202E}", "\r", "\u{FEFF}"])
        case 4: number()
        default: pick(["a", "b c", "ü", "\"quoted\"", "a=b", "x;y", "\\\"", "'"])
        }
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<min(bytes.count, chance(2) ? 400 : bytes.count), using: &numbers)
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &numbers)))
        case 3:
            let piece = bytes[place..<min(bytes.count, place + Int.random(in: 1...80, using: &numbers))]
            bytes.insert(contentsOf: piece, at: Int.random(in: 0..<bytes.count, using: &numbers))
        default: bytes.insert(contentsOf: Array(number().utf8), at: place)
        }
    }
}

extension [String] {
    /// Shuffles all but the first element.
    fileprivate mutating func shuffleTail(using numbers: inout SeededNumbers) {
        guard count > 2 else { return }
        self[1...].shuffle(using: &numbers)
    }
}
