#if DEBUG || FUZZING
    /// A parser of untrusted bytes, with what must hold for every input.
    struct FuzzTarget: Sendable {
        let name: String
        private let body: @Sendable ([UInt8]) throws -> Void

        init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
            (self.name, self.body) = (name, body)
        }

        /// Runs the parser. Returns whether the parser accepts the bytes; it may refuse any.
        @discardableResult
        func run(_ bytes: [UInt8]) -> Bool { (try? body(bytes)) != nil }

        static let all = lists + texts + pictures + rows + transfers
    }

    /// Ends the program unless a condition holds.
    func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
        if !condition() { fatalError(message()) }
    }

    /// The error of a parser that has none of its own.
    struct Refusal: Error {}

    /// Returns the result of a parser. Throws an error if the parser has refused its bytes.
    @discardableResult
    func accepted<Value>(_ result: Value?) throws -> Value {
        guard let result else { throw Refusal() }
        return result
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
