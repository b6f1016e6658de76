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
