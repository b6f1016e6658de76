import Testing

import Commands

@Suite struct MisspellingTests {
    private static let names = [
        "cache-dir", "cache-limit", "colors", "symbols", "sync-on-open", "sync-on-focus", "mouse",
    ]

    @Test(arguments: [
        ("colours", "colors"), ("color", "colors"), ("Colors", "colors"), ("symobls", "symbols"),
        ("sync-on-opne", "sync-on-open"), ("sync_on_open", "sync-on-open"), ("cachedir", "cache-dir"),
        ("muose", "mouse"), ("mous", "mouse"), ("sync-on-f", "sync-on-focus"),
    ]) func isFound(word: String, name: String) {
        #expect(Misspelling.nearest(to: word, among: Self.names) == name)
    }

    /// Too far from all, or as near to one as to another.
    @Test(arguments: ["", "x", "mo", "nonsense", "cache", "keyboard", String(repeating: "colors", count: 7), "żółw"])
    func isNotGuessed(word: String) {
        #expect(Misspelling.nearest(to: word, among: Self.names) == nil)
    }
}
