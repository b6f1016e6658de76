import Testing

@testable import Commands

@Suite struct TypedCommandTests {
    private static let entries = KeyMap().entries(in: [.photos, .lists, .everywhere])

    private func read(_ line: String) throws(CommandsError) -> TypedCommand {
        try TypedCommand(line, among: Self.entries)
    }

    private func expect(_ line: String, _ command: Command, _ argument: CommandArgument? = nil) throws {
        let typed = try read(line)
        #expect(typed.command == command && typed.argument == argument, "\(line)")
    }

    @Test func namesAndArgumentsAreParsed() throws {
        try expect("refresh", .refresh)
        try expect("  :next-section  ", .nextSection)
        try expect("q", .quit)
        try expect("goto 10", .goto, .number(10))
        try expect("10", .goto, .number(10))
        try expect("rate 0", .rate, .number(0))
        try expect("slideshow 3600", .slideshow, .number(3_600))
        try expect("search  red kite ", .search, .text("red kite"))
        try expect("search", .search)
        try expect("open", .open)
        try expect("open ~/Pictures", .open, .text("~/Pictures"))
    }

    @Test func everyCommandIsParsedByItsName() throws {
        let everything = KeyMap().entries(in: CommandTable.Scope.allCases)
        for entry in CommandTable.entries {
            let argument = entry.parameter.map { $0.numbers == nil ? " text" : " 3" } ?? ""
            #expect(try TypedCommand(entry.command.name + argument, among: everything).command == entry.command)
        }
    }

    @Test(arguments: [
        ("refesh", "Unknown command “refesh”. Did you mean “refresh”?"),
        ("serach", "Unknown command “serach”. Did you mean “search”?"),
        ("trans", "Unknown command “trans”. Did you mean “transfers”?"),
        ("qwertz", "Unknown command “qwertz”."),
        ("!", "Unknown command “!”."),
        ("zoom-in", "The command “zoom-in” does not apply to this screen."),
        ("goto", "The command “goto” needs an argument: goto N."),
        ("goto there", "The command “goto” needs a number from 1 to 99999999, not “there”."),
        ("goto 0", "The command “goto” needs a number from 1 to 99999999, not “0”."),
        ("99999999999999999999", "The command “goto” needs a number from 1 to 99999999, not “99999999999999999999”."),
        ("rate 6", "The command “rate” needs a number from 0 to 5, not “6”."),
        ("rate -1", "The command “rate” needs a number from 0 to 5, not “-1”."),
        ("slideshow 3601", "The command “slideshow” needs a number from 1 to 3600, not “3601”."),
        ("refresh all", "The command “refresh” takes no argument, but got “all”."),
    ]) func invalidLinesReportTheirError(line: String, sentence: String) {
        let error = #expect(throws: CommandsError.self) { try read(line) }
        #expect(error?.description == sentence)
    }

    @Test func nearerScopesHavePrecedence() {
        let open = Self.entries.filter { $0.command == .open }
        #expect(open.map(\.scope) == [.photos, .everywhere])
        #expect(Self.entries.filter { $0.command == .back }.map(\.scope) == [.photos])
    }
}
