import Glibc

/// Formats numbers with a decimal point and thousands separators.
///
///     NumberFormat.current.text(1_234_567)     // "1.234.567" in Germany, "12,34,567" in India
///     NumberFormat.plain.text(1_234_567)       // "1234567", for programs
public struct NumberFormat: Hashable, Sendable {
    /// The decimal separator, such as `.` or `,`.
    private let point: String
    /// The separator between groups of digits; empty if there is none.
    private let separator: String
    /// The sizes of the digit groups, from the right. The last size repeats.
    private let groups: [Int]

    /// The format for output that programs read.
    public static let plain = NumberFormat(point: ".", separator: "", groups: [])

    init(point: String, separator: String, groups: [Int]) {
        self.point = point
        self.separator = separator
        self.groups = groups
    }

    /// The format of the user's locale. Call `setlocale` first.
    public static var current: NumberFormat {
        let separator = text(THOUSEP)
        // "Each integer describes the number of digits in the current group; CHAR_MAX: no further grouping"
        // (localeconv(3)). Unlike `localeconv`, `nl_langinfo` is thread-safe.
        let groups = bytes(nl_item(__GROUPING)).prefix { (1..<127).contains($0) }.map { Int($0) }
        return NumberFormat(point: text(RADIXCHAR) ?? ".", separator: separator ?? "", groups: groups)
    }

    /// Formats a whole number.
    public func text(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        guard !separator.isEmpty, !groups.isEmpty else { return String(number) }
        var (end, parts) = (digits.count, [String]())
        while end > 0 {
            // The last size applies to all further groups.
            let length = groups[min(parts.count, groups.count - 1)]
            parts.append(String(digits[max(0, end - length)..<end]))
            end -= length
        }
        return (number < 0 ? "-" : "") + parts.reversed().joined(separator: separator)
    }

    /// Formats a number given in tenths, with one decimal, such as `12.3` or `4.0`.
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

    /// Returns a text of the locale. Returns nil if the text is empty, is not UTF-8, or is wider than one column.
    private static func text(_ item: some BinaryInteger) -> String? {
        let text = String(validating: bytes(nl_item(item)), as: UTF8.self)
        return text.flatMap { $0.isEmpty || $0.displayWidth > 1 ? nil : $0 }
    }
}

/// Formats amounts of data.
public enum ByteText {
    /// Formats a number of bytes, such as `512 B`, `12.3 KB` or `4.0 MB`.
    public static func text(_ bytes: Int64, _ format: NumberFormat = .current) -> String {
        guard bytes >= 1_000 else { return "\(bytes) B" }
        // A server may claim any size, so every value must work here.
        var tenths = bytes / 100
        for unit in ["KB", "MB", "GB"] {
            if tenths < 10_000 { return "\(format.text(tenths: tenths)) \(unit)" }
            tenths /= 1_000
        }
        return "\(format.text(tenths: tenths)) TB"
    }

    /// Formats the bytes transferred so far, and the total if it is known.
    public static func text(_ done: Int64, of total: Int64?) -> String {
        total.map { "\(text(done)) of \(text($0))" } ?? text(done)
    }
}

/// Formats counts with their nouns, and positions in lists.
public enum CountText {
    /// Formats a count with its noun, such as `1 photo` or `12 photos`. Pass an irregular plural as `many`, such as
    /// `galleries`.
    public static func text(
        _ count: Int, _ one: String, _ many: String? = nil, _ format: NumberFormat = .current
    ) -> String {
        format.text(count) + " " + (count == 1 ? one : many ?? one + "s")
    }

    /// Formats a position in a list, such as `3 of 1,204`.
    public static func text(_ number: Int, of count: Int) -> String {
        let format = NumberFormat.current
        return "\(format.text(number)) of \(format.text(count))"
    }
}
