import Glibc

/// How numbers are written: what stands before the tenths, and between thousands.
///
///     NumberFormat.current.text(1_234_567)     // "1.234.567" in Germany, "12,34,567" in India
///     NumberFormat.plain.text(1_234_567)       // "1234567", for programs
public struct NumberFormat: Hashable, Sendable {
    /// What stands before the tenths.
    private let point: String
    /// What stands between groups of digits; empty where nothing does.
    private let separator: String
    /// How many digits the groups have, the last one first; the first of a number has as many as are left.
    private let groups: [Int]

    /// As in programs.
    public static let plain = NumberFormat(point: ".", separator: "", groups: [])

    init(point: String, separator: String, groups: [Int]) {
        self.point = point
        self.separator = separator
        self.groups = groups
    }

    /// As the user's locale has it. Ask after `setlocale`.
    public static var current: NumberFormat {
        let separator = text(THOUSEP)
        // "Each integer describes the number of digits in the current group; CHAR_MAX: no further grouping" (localeconv(3)).
        // `nl_langinfo` knows it too, and may be asked by several threads.
        let groups = bytes(nl_item(__GROUPING)).prefix { (1..<127).contains($0) }.map { Int($0) }
        return NumberFormat(point: text(RADIXCHAR) ?? ".", separator: separator ?? "", groups: groups)
    }

    /// A whole number.
    public func text(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        guard !separator.isEmpty, !groups.isEmpty else { return String(number) }
        var (end, parts) = (digits.count, [String]())
        while end > 0 {
            // The last length is that of all groups before it.
            let length = groups[min(parts.count, groups.count - 1)]
            parts.append(String(digits[max(0, end - length)..<end]))
            end -= length
        }
        return (number < 0 ? "-" : "") + parts.reversed().joined(separator: separator)
    }

    /// A number of tenths, none of them left out: `12.3`, `4.0`.
    public func text(tenths: Int64) -> String {
        text(Int(tenths / 10)) + point + String(abs(tenths % 10))
    }

    private static func bytes(_ item: nl_item) -> [UInt8] {
        guard var byte = nl_langinfo(item) else { return [] }
        var bytes: [UInt8] = []
        while byte.pointee != 0, bytes.count < 16 {
            bytes.append(UInt8(bitPattern: byte.pointee))
            byte += 1
        }
        return bytes
    }

    /// What a locale says, if it can be shown: one that is not UTF-8 may have a character of its own there.
    private static func text(_ item: some BinaryInteger) -> String? {
        let text = String(validating: bytes(nl_item(item)), as: UTF8.self)
        return text.flatMap { $0.isEmpty || $0.displayWidth > 1 ? nil : $0 }
    }
}

/// Amounts of data as people read them.
public enum ByteText {
    /// `512 B`, `12.3 KB`, `4.0 MB`; in the user's locale, or in another format.
    public static func text(_ bytes: Int64, _ format: NumberFormat = .current) -> String {
        guard bytes >= 1_000 else { return "\(bytes) B" }
        // What a server says of itself may be anything, so nothing here can be too large.
        var tenths = bytes / 100
        for unit in ["KB", "MB", "GB"] {
            if tenths < 10_000 { return "\(format.text(tenths: tenths)) \(unit)" }
            tenths /= 1_000
        }
        return "\(format.text(tenths: tenths)) TB"
    }

    /// How much of how much, where the whole is known.
    public static func text(_ done: Int64, of total: Int64?) -> String {
        total.map { "\(text(done)) of \(text($0))" } ?? text(done)
    }
}

/// Numbers of things.
public enum CountText {
    /// `1 photo`, `12 photos`; for words with a plural of their own, `1 gallery`, `2 galleries`. The number is as the user's
    /// locale has it, or in another format.
    public static func text(
        _ count: Int, _ one: String, _ many: String? = nil, _ format: NumberFormat = .current
    ) -> String {
        format.text(count) + " " + (count == 1 ? one : many ?? one + "s")
    }

    /// `3 of 1,204`.
    public static func text(_ place: Int, of count: Int) -> String {
        let format = NumberFormat.current
        return "\(format.text(place)) of \(format.text(count))"
    }
}
