import Cells
import Commands
import Model
import Settings
import Testing

@testable import UI

@MainActor @Suite struct KeyMapInUseTests {
    private func screens(_ bindings: (scope: String, key: String, command: String)...) throws -> TestScreens {
        var settings = Settings()
        settings.syncOnOpen = false
        for binding in bindings { try settings.keys.bind(binding.key, to: binding.command, in: binding.scope) }
        return try TestScreens(settings)
    }

    @Test func boundKeysWorkAndAppearInHints() async throws {
        let screens = try screens(("lists", "J", "last"), ("photos", "R", "refresh"), ("everywhere", "e", "errors"))
        try await screens.sync(["a", "b", "c"])
        screens.open()
        screens.press("J")
        #expect(screens.selected == "Photo c")
        #expect(screens.status.contains("R refresh"))
        screens.press("e")
        #expect(screens.title.hasPrefix(" Errors"))
    }

    @Test func anUnboundKeyDoesNothing() async throws {
        let screens = try screens(("galleries", "q", "none"), ("photos", "?", "none"))
        screens.press("q")
        #expect(screens.quits == 0)
        try await screens.sync(["a"])
        screens.open()
        screens.press("?")
        #expect(!screens.title.hasPrefix(" Help") && screens.status.contains("F1 help"))
    }

    @Test("Characters bound to commands are text in a prompt")
    func boundCharactersAreText() throws {
        let screens = try screens(
            ("everywhere", "R", "redraw"), ("everywhere", "Z", "suspend"), ("everywhere", "F9", "redraw"))
        var said: [String] = []
        screens.root.host.onSuspend = { said.append("suspend") }
        screens.root.host.onRedraw = { said.append("redraw") }
        screens.type(":RZ")
        #expect(screens.status == ":RZ" && said.isEmpty)
        screens.press(Key(.function(9)), .control("z"))
        #expect(screens.status == ":RZ" && said == ["redraw", "suspend"])
    }

    @Test func theBadgeNamesTheUsersKey() throws {
        let keys = try screens(("everywhere", "e", "errors")).context.keys
        #expect(ErrorText.badge(2, keys) == "2 errors: e")
        let none = try screens(("everywhere", "E", "none")).context.keys
        #expect(ErrorText.badge(2, none) == "2 errors")
    }

    @Test("The question about the rating takes the user’s keys")
    func theRatingQuestionTakesTheUsersKeys() async throws {
        let screens = try screens(
            ("rating", "a", "five-stars"), ("rating", "F6", "four-stars"), ("rating", "^F", "three-stars"),
            ("rating", "ß", "two-stars"), ("rating", "X", "unrate"), ("rating", "n", "one-star"))
        screens.size.columns = 160
        try await screens.sync(["a", "b"])
        screens.open(at: "a")
        screens.press(".")
        #expect(
            screens.status
                == " Rate 1 photo:  a ★★★★★  F6 ★★★★  ^F ★★★  ß ★★  n ★  0 no stars  x reject  X gallery’s rating"
                + "  Esc cancel")
        screens.press(Key(.escape))
        let answers: [(key: Key, rating: Int)] = [
            ("a", 5), (Key(.function(6)), 4), (.control("f"), 3), ("ß", 2), ("n", 1), ("5", 5), ("X", 0), ("A", 5),
            ("U", 0), ("x", -1),
        ]
        for answer in answers {
            // Plain f is bound to nothing and cancels the question.
            screens.press(".", "f")
            #expect(screens.root.question == nil)
            screens.press(".", answer.key)
            try await screens.until { try screens.photo("a").rating.value == answer.rating }
        }
    }

    @Test func theSortMenuNamesTheUsersKeys() async throws {
        let screens = try screens(("sorting", "z", "sort-by-size-reversed"))
        try await screens.sync(["a", "b"])
        screens.open()
        screens.press(",")
        #expect(screens.status == " Sort by  d date  n name  s size  t state  r rating")
        screens.press("z")
        try await screens.until { !screens.status.contains("Sort by") }
        #expect(try TestScreens().context.keys == KeyMap())
    }
}
