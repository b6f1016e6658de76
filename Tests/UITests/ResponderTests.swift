import Cells
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct ResponderTests {
    private let focused = RecordingResponder()
    private let middle = RecordingResponder()
    private let root = RecordingResponder()

    init() {
        focused.next = middle
        middle.next = root
    }

    @Test("BEHAVIOURS 7.4: an event travels from the focus up to the root")
    func up() {
        focused.send(.command(.open))
        middle.send(.notice("n"))
        #expect(focused.events == ["command open"])
        #expect(middle.events == ["command open", "notice n"])
        #expect(root.events == ["command open", "notice n"])
    }

    @Test("BEHAVIOURS 7.4: each responder can stop an event")
    func stopped() {
        middle.answer = { if case .command(.open, _) = $0 { nil } else { $0 } }
        focused.send(.command(.open))
        focused.send(.command(.quit))
        #expect(middle.events == ["command open", "command quit"])
        #expect(root.events == ["command quit"])
    }

    @Test("BEHAVIOURS 7.4: each responder can replace an event")
    func enriched() {
        focused.answer = { if case .key(let key) = $0 { .notice("\(key)") } else { $0 } }
        middle.answer = { if case .notice(let text) = $0 { .notice(text + "!") } else { $0 } }
        focused.send(.key("x"))
        #expect(focused.events == ["key x"] && middle.events == ["notice x"] && root.events == ["notice x!"])
    }

    @Test("BEHAVIOURS 7.4: the chain ends at a missing responder")
    func ends() {
        root.send(.command(.open))
        var gone: RecordingResponder? = RecordingResponder()
        middle.next = gone
        gone = nil
        focused.send(.command(.open))
        #expect(middle.events == ["command open"] && root.events == ["command open"])
    }

    @Test("BEHAVIOURS 7.4: a key that the focus does not use becomes a command")
    func keys() async throws {
        let screens = try TestScreens()
        // A text field takes letters as text, but a function key becomes a command at the root.
        screens.press("a", "q", "L", "Q", "?")
        #expect(screens.quits == 0 && screens.text.contains("Address: qLQ?"))
        screens.press(Key(.function(1)))
        #expect(screens.title.hasPrefix(" Help"))
        screens.press(Key(.escape))
        #expect(screens.text.contains("Address: qLQ?"))
        screens.press(Key(.escape), "Q")
        #expect(screens.quits == 1)
    }

    @Test("BEHAVIOURS 7.4: unhandled events end at the root")
    func root() async throws {
        let screens = try TestScreens()
        var said: [String] = []
        screens.root.host.onSuspend = { said.append("suspend") }
        screens.root.host.onRedraw = { said.append("redraw") }
        try await screens.sync(["a"])
        screens.open()
        let before = screens.text
        screens.press("%", Key(.function(9)), .control("l"), .control("z"))
        screens.paste("pasted")
        #expect(said == ["redraw", "suspend"] && screens.text == before)
        screens.press(.control("c"))
        #expect(screens.quits == 1)
    }

    @Test func escapeGoesBackScreenByScreen() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        screens.open(isPhotoOpen: true)
        screens.press("L", "T", "L", "?", Key(.function(1)), "?")
        // Log and transfers cover each other, but neither covers itself.
        screens.press(Key(.function(1)))
        for title in [" Log", " Transfers", " Log", " Photo a", " example.org", " Galleries"] {
            #expect(screens.title.hasPrefix(title), "\(title)")
            screens.press(Key(.escape))
        }
        #expect(screens.quits == 0 && screens.title.hasPrefix(" Galleries"))
    }
}
