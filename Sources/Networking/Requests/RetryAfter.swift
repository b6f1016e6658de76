import Glibc
import HTTP
import Numbers

/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// A server may say years. Nothing here waits for longer than a day because of that.
    static let most = 86_400

    /// How many seconds to wait, as the server says it, and ``most`` at most; nil if the header cannot be read.
    ///
    /// - Parameter now: seconds since 1970.
    static func seconds(_ text: String, now: Int = time(nil)) -> Int? {
        if let seconds = Int(digits: text, atMost: most) { return seconds }
        // A date has a year of four digits, and the clock of this machine is not the server's word: no difference overflows.
        return HTTPDate.seconds(text).map { min(max($0 - now, 0), most) }
    }
}
