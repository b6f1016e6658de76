#if DEBUG || FUZZING
    /// A parser of untrusted bytes, with what must hold for every input.
    struct FuzzTarget: Sendable {
        let name: String
        private let body: @Sendable ([UInt8]) throws -> Void

        init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
            (self.name, self.body) = (name, body)
        }

        /// Runs the parser. An error is a refusal, which any input may get.
        func run(_ bytes: [UInt8]) { try? body(bytes) }

        static let all = lists + texts + pictures + rows + transfers
    }

    /// Ends the program unless a condition holds.
    func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
        if !condition() { fatalError(message()) }
    }

    /// Bytes whose first one chooses a parser: `a` the first, `b` the second.
    struct Choice {
        let number: Int
        let rest: [UInt8]

        init(_ bytes: [UInt8], of count: Int) {
            number = bytes.first.map { Int($0 &- 0x61) % count } ?? 0
            rest = Array(bytes.dropFirst())
        }
    }

    extension [UInt8] {
        /// The bytes in pieces, whose length depends on their number.
        var pieces: [[UInt8]] {
            let length = 1 + count % 13
            return stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min(count, $0 + length)]) }
        }

        /// The bytes as text. Invalid bytes become replacement characters.
        var text: String { String(decoding: self, as: UTF8.self) }
    }
#endif
