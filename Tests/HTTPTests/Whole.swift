import TestSupport

/// A resource that is served in ranges, as nginx does.
struct Whole: Sendable {
    let bytes: [UInt8]
    var tag: String? = "\"a\""

    init(_ count: Int, seed: UInt64 = 1) {
        var numbers = SeededNumbers(seed: seed)
        bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    }

    private var tagLine: [String] { tag.map { ["ETag: \($0)"] } ?? [] }

    /// The range that a request asks for.
    static func part(_ request: ScriptedServer.Request) -> (first: Int, last: Int)? {
        guard let range = request.headers["range"]?.dropFirst("bytes=".count) else { return nil }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        return Int(ends[0]).map { ($0, Int(ends[1]) ?? Int.max - 1) }
    }

    func answer(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
        guard let (first, last) = Self.part(request), request.headers["if-range"] ?? tag == tag else { return all }
        guard first < bytes.count else { return .answer(416, "", headers: ["Content-Range: bytes */\(bytes.count)"]) }
        let end = min(last + 1, bytes.count)
        return answer(206, first..<end, ["Content-Range: bytes \(first)-\(end - 1)/\(bytes.count)"])
    }

    var all: [ScriptedServer.Step] { answer(200, 0..<bytes.count, []) }

    private func answer(_ status: Int, _ range: Range<Int>, _ headers: [String]) -> [ScriptedServer.Step] {
        let lines = ["HTTP/1.1 \(status) So", "Content-Length: \(range.count)"] + tagLine + headers
        return [.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)), .send(Array(bytes[range]))]
    }
}
