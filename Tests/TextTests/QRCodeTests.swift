import TestSupport
import Testing

@testable import Text

@Suite(.unlessItHangs) struct QRCodeTests {
    /// The longest text of each size.
    private static let capacities = [17, 32, 53, 78, 106, 134, 154, 192, 230, 271]

    private static func text(_ length: Int) -> String {
        String(String(repeating: "https://example.org/login?a=1&b=Zz-", count: 8).prefix(length))
    }

    /// Returns the text that a scanner program reads from a code.
    ///
    /// The code is on a dark screen, with a border of two light modules.
    private func read(_ code: QRCode) throws -> String {
        let (scale, border, dark) = (4, 2, 8)
        let side = code.side + 2 * (border + dark)
        let rows = (0..<side * scale).map { row in
            (0..<side * scale).map { column -> String in
                let (x, y) = (column / scale - border - dark, row / scale - border - dark)
                let isBeside = min(x, y) < -border || max(x, y) >= code.side + border
                return isBeside || code[x, y] ? "0" : "255"
            }.joined(separator: " ")
        }
        let folder = TestFolder()
        let path = folder.write(
            "code.pgm", "P2\n\(side * scale) \(side * scale)\n255\n" + rows.joined(separator: "\n") + "\n")
        let command = try withExtendedLifetime(folder) {
            try Command("/usr/bin/zbarimg", ["--quiet", "--nodbus", "--raw", path])
        }
        return command.text + command.errors
    }

    @Test("Another program reads the codes of every size", arguments: capacities)
    func isRead(length: Int) throws {
        for length in [length - 1, length] {
            let code = try #require(QRCode(Self.text(length)))
            #expect(try read(code) == Self.text(length) + "\n")
        }
    }

    @Test("A code is as small as its text permits, and a longer text has none")
    func sizes() {
        for (index, capacity) in Self.capacities.enumerated() {
            #expect(QRCode(Self.text(capacity))?.side == 21 + 4 * index)
            #expect(QRCode(Self.text(capacity + 1))?.side == (index < 9 ? 25 + 4 * index : nil))
        }
        #expect(QRCode("")?.side == 21 && QRCode.maximumLength == Self.capacities.last)
        #expect(QRCode(String(repeating: "a", count: 1_000_000)) == nil)
    }

    @Test("Modules outside the code are light")
    func outside() throws {
        let code = try #require(QRCode("a"))
        #expect(code[0, 0] && code[20, 0] && code[0, 20])
        for (column, row) in [(-1, 0), (0, -1), (21, 0), (0, 21), (Int.max, Int.min)] { #expect(!code[column, row]) }
    }
}
