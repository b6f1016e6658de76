/// Numbers of things.
public enum CountText {
    /// `1 photo`, `12 photos`; for words with a plural of their own, `1 gallery`, `2 galleries`.
    public static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) " + (count == 1 ? one : many ?? one + "s")
    }
}
