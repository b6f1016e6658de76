import Glibc
import Numbers

/// The dates of headers.
public enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for what is written otherwise. RFC 9110, section 5.6.7,
    /// has two other formats, which are obsolete and which nobody sends to a program.
    public static func seconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), text.hasSuffix(" GMT") else { return nil }
        let parts = text.split(separator: " ")
        guard parts.count == 6, let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(parts[1], 2, 1...31), let year = number(parts[3], 4, 1601...9999), clock.count == 3,
            let hour = number(clock[0], 2, 0...23), let minute = number(clock[1], 2, 0...59),
            let second = number(clock[2], 2, 0...60)
        else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, Int32(clamping: month), day)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return timegm(&time)
    }

    /// Seconds from one such date to another; below 0 if the second one is earlier. Nil if either is written otherwise.
    public static func seconds(from first: String, to second: String) -> Int? {
        // Years have four digits, so this is far within bounds.
        guard let first = seconds(first), let second = seconds(second) else { return nil }
        return second - first
    }

    private static func number(_ digits: Substring, _ count: Int, _ range: ClosedRange<Int32>) -> Int32? {
        guard digits.utf8.count == count, let number = Int32(digits: digits) else { return nil }
        return range.contains(number) ? number : nil
    }
}
