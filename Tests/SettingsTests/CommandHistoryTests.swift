import Testing

@testable import Settings

@Suite struct CommandHistoryTests {
    @Test func commandsRoundTrip() {
        var history = CommandHistory()
        for line in ["goto 10", " open example.org/album ", "", "goto 10"] { history.add(line) }
        #expect(history.lines == ["open example.org/album", "goto 10"])
        #expect(history.text == "open example.org/album\ngoto 10\n")
        #expect(CommandHistory(text: history.text) == history)
    }

    @Test func historyIsLimited() {
        var history = CommandHistory()
        for number in 1...500 { history.add("goto \(number)") }
        #expect(history.lines.count == 200 && history.lines.last == "goto 500")
        history.add(String(repeating: "x", count: 1_001))
        #expect(history.lines.last == "goto 500")
        #expect(CommandHistory(text: (1...500).map { "goto \($0)\n" }.joined()) == history)
    }

    @Test(arguments: [
        "open https://me:s3cret@example.org/a.xml", "open me:s3cret@example.org", "open https://me@example.org/",
        "open example.org/?token=s3cret", "set proxy=http://me:a/b@proxy", "open https://me:s3cret@example.org\ngoto 3",
    ]) func linesWithPasswordsAreNotKept(line: String) {
        var history = CommandHistory()
        history.add(line)
        #expect(history == CommandHistory())
        #expect(!CommandHistory(text: line + "\n").text.contains("s3cret"))
    }
}
