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
