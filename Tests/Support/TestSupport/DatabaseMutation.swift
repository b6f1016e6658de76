import Foundation

/// Damage to a database's file or to its log, as by a broken disk or program.
public enum DatabaseMutation: Sendable {
    /// Changed bytes at some offsets of the file or its log.
    case bytes(inLog: Bool, [(place: Int, value: UInt8)])
    /// A page, counted from zero, filled with one byte.
    case page(Int, UInt8)
    /// A truncated file or log.
    case end(inLog: Bool, Int)
    /// Two exchanged pages.
    case swap(Int, Int)

    /// The size of pages.
    public static let pageSize = 4_096

    /// Returns random damage.
    ///
    /// - Parameters:
    ///   - size: bytes of the file.
    ///   - logSize: bytes of its log; zero if it has none.
    ///   - pages: pages to damage more often than others.
    public static func random(
        size: Int, logSize: Int, pages: [Int], using numbers: inout SeededNumbers
    ) -> DatabaseMutation {
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: return .bytes(inLog: false, flips(in: 0..<min(100, size), using: &numbers))
        case 1: return .bytes(inLog: false, flips(in: 0..<size, using: &numbers))
        case 2, 3:
            let start = page(of: size, pages, using: &numbers) * pageSize
            return .bytes(inLog: false, flips(in: start..<min(size, start + pageSize), using: &numbers))
        case 4:
            let page = page(of: size, pages, using: &numbers)
            return .page(page, [0, 0xFF, 0xA5].randomElement(using: &numbers) ?? 0)
        case 5:
            let page = page(of: size, pages, using: &numbers)
            return .swap(page, self.page(of: size, pages, using: &numbers))
        case 6 where logSize > 0: return .bytes(inLog: true, flips(in: 0..<logSize, using: &numbers))
        case 7 where logSize > 0: return .end(inLog: true, Int.random(in: 0..<logSize, using: &numbers))
        default: return .end(inLog: false, Int.random(in: 0..<size, using: &numbers))
        }
    }

    private static func page(of size: Int, _ pages: [Int], using numbers: inout SeededNumbers) -> Int {
        Bool.random(using: &numbers)
            ? pages.randomElement(using: &numbers) ?? 0 : Int.random(in: 0..<max(1, size / pageSize), using: &numbers)
    }

    private static func flips(
        in range: Range<Int>, using numbers: inout SeededNumbers
    ) -> [(place: Int, value: UInt8)] {
        let count = [1, 2, 16].randomElement(using: &numbers) ?? 1
        return (0..<count).map { _ in
            (Int.random(in: range, using: &numbers), UInt8.random(in: 0...255, using: &numbers))
        }
    }

    /// Damages a database, which must not be open.
    public func apply(to path: String) throws {
        switch self {
        case .bytes(let inLog, let flips):
            try change(inLog ? path + "-wal" : path) { data in
                for (place, value) in flips where place < data.count { data[place] = value }
            }
        case .page(let page, let value):
            try change(path) { data in
                let start = page * Self.pageSize
                guard start + Self.pageSize <= data.count else { return }
                data.replaceSubrange(start..<start + Self.pageSize, with: repeatElement(value, count: Self.pageSize))
            }
        case .end(let inLog, let size): try change(inLog ? path + "-wal" : path) { $0 = $0.prefix(size) }
        case .swap(let one, let other):
            try change(path) { data in
                let ranges = [one, other].map { $0 * Self.pageSize..<($0 + 1) * Self.pageSize }
                guard ranges.allSatisfy({ $0.upperBound <= data.count }) else { return }
                let (first, second) = (data.subdata(in: ranges[0]), data.subdata(in: ranges[1]))
                data.replaceSubrange(ranges[0], with: second)
                data.replaceSubrange(ranges[1], with: first)
            }
        }
    }

    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        guard var data = FileManager.default.contents(atPath: path) else { return }
        body(&data)
        try Data(data).write(to: URL(fileURLWithPath: path))
    }
}
