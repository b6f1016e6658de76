import Glibc
import Model

/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait, as the server says it; nil if the header cannot be read.
    static func seconds(_ text: String, now: Timestamp = Timestamp(milliseconds: Int64(time(nil)) * 1000)) -> Int? {
        if let seconds = Int(text), seconds >= 0 { return seconds }
        guard let date = moment(text) else { return nil }
        return max(0, Int(date.seconds - now.seconds))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`; the two obsolete forms are not sent to programs any more.
    private static func moment(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
