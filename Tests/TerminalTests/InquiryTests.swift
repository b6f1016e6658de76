import Cells
import Testing

@testable import Terminal

@Suite struct InquiryTests {
    private static let size = Size(columns: 80, rows: 24)
    private static let all: Set<TerminalQuestion> = [
        .version, .kitty, .cellSize, .areaSize, .background, .synchronises, .sixelColours,
    ]

    /// An inquiry that expectations can change.
    private final class Asked {
        private(set) var inquiry = Inquiry(number: 31)

        init(_ questions: Set<TerminalQuestion>, on size: Size) { ask(questions, on: size) }

        var isOpen: Bool { inquiry.isOpen }
        var answers: TerminalAnswers { inquiry.answers }

        func take(_ reply: TerminalReply) -> Bool { inquiry.take(reply) }
        func ask(_ questions: Set<TerminalQuestion>, on size: Size = InquiryTests.size) {
            _ = inquiry.ask(questions, on: size)
        }
        func giveUp() { inquiry.giveUp() }
    }

    private func asked(_ questions: Set<TerminalQuestion> = all, on size: Size = size) -> Asked {
        Asked(questions, on: size)
    }

    @Test("Queries are sent in one piece with the final query last") func onePiece() {
        var inquiry = Inquiry(number: 31)
        let text = String(decoding: inquiry.ask(Self.all, on: Self.size), as: UTF8.self)
        #expect(
            text == "\u{1B}[>q\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[14t\u{1B}]11;?\u{1B}\\"
                + "\u{1B}[?2026$p\u{1B}[?1;1;0S\u{1B}[c")
        #expect(inquiry.isOpen && inquiry.open.contains(.attributes))
    }

    @Test("Queries for the outer terminal are wrapped for tmux") func tmuxStrings() {
        var inquiry = Inquiry(number: 7)
        let text = String(decoding: inquiry.ask([.outerVersion, .outerKitty], on: Self.size), as: UTF8.self)
        #expect(
            text == "\u{1B}Ptmux;\u{1B}\u{1B}[>q\u{1B}\\"
                + "\u{1B}Ptmux;\u{1B}\u{1B}_Gi=7,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\u{1B}\\\u{1B}\\")
        // tmux would answer the last query itself.
        #expect(inquiry.open == [.outerVersion, .outerKitty])
    }

    @Test("Each answer counts once") func answersOnce() {
        let inquiry = asked()
        let replies: [TerminalReply] = [
            .version("kitty(0.35.2)"), .kitty(number: 31, isOK: true), .cellSize(width: 10, height: 20),
            .areaSize(width: 800, height: 480), .background(red: 0x1E, green: 0x1E, blue: 0x2E),
            .mode(2026, state: 2), .sixelColours(1024),
        ]
        for reply in replies {
            #expect(inquiry.take(reply), "\(reply)")
            #expect(!inquiry.take(reply), "\(reply)")
        }
        #expect(inquiry.take(.attributes([62, 4])))
        #expect(!inquiry.isOpen)
        let answers = inquiry.answers
        #expect(answers.version == "kitty(0.35.2)" && answers.takesKitty && answers.takesSixel && answers.synchronises)
        #expect(answers.cell == CellPixels(cellWidth: 10, height: 20) && answers.sixelColours == 1024)
        #expect(answers.background == .rgb(0x1E, 0x1E, 0x2E))
    }

    @Test("Replies without a query are ignored") func unasked() {
        let inquiry = asked([])
        for (_, reply) in TerminalReplyTests.replies { #expect(!inquiry.take(reply), "\(reply)") }
        #expect(inquiry.answers == TerminalAnswers())
    }

    @Test("An answer after the final one is ignored") func afterEnd() {
        let inquiry = asked()
        #expect(inquiry.take(.attributes([62])) && !inquiry.isOpen)
        for (_, reply) in TerminalReplyTests.replies { #expect(!inquiry.take(reply), "\(reply)") }
        #expect(!inquiry.answers.takesSixel && inquiry.answers.version == nil)
    }

    @Test("An answer after the time limit is ignored") func timeout() {
        let inquiry = asked()
        #expect(inquiry.take(.version("xterm(379)")))
        inquiry.giveUp()
        #expect(!inquiry.isOpen && inquiry.answers.version == "xterm(379)" && inquiry.answers.attributes == nil)
        #expect(!inquiry.take(.attributes([62, 4])) && !inquiry.answers.takesSixel)
    }

    @Test("A kitty answer with another number is ignored") func otherNumber() {
        let inquiry = asked()
        #expect(!inquiry.take(.kitty(number: 30, isOK: true)) && !inquiry.answers.takesKitty)
        #expect(inquiry.take(.kitty(number: 31, isOK: false)) && !inquiry.answers.takesKitty)
        #expect(!inquiry.take(.kitty(number: 31, isOK: true)) && !inquiry.answers.takesKitty)
    }

    @Test(
        "Implausible cell sizes are ignored",
        arguments: [
            (0, 0), (0, 20), (10, 0), (-10, 20), (2, 5), (10, 4), (10, 201), (101, 150), (5, 100), (40, 20),
            (Int.max, Int.max),
        ])
    func implausibleCells(width: Int, height: Int) {
        let inquiry = asked(on: Size(columns: 1, rows: 1))
        #expect(inquiry.take(.cellSize(width: width, height: height)) && inquiry.answers.cell == nil)
        #expect(inquiry.take(.areaSize(width: width, height: height)) && inquiry.answers.area?.cell == nil)
    }

    @Test("A text area belongs to the number of cells at the query") func area() {
        let inquiry = asked()
        #expect(inquiry.take(.areaSize(width: 800, height: 480)) && inquiry.answers.area?.size == Self.size)
        #expect(inquiry.answers.area?.cell == CellPixels(cellWidth: 10, height: 20))
        let larger = Size(columns: 100, rows: 30)
        inquiry.ask([.areaSize], on: larger)
        #expect(inquiry.answers.area?.size == Self.size)
        #expect(inquiry.take(.areaSize(width: 1_000, height: 600)) && inquiry.answers.area?.size == larger)
        #expect(inquiry.answers.area?.cell == CellPixels(cellWidth: 10, height: 20))
    }

    @Test("Numbers in answers are limited") func limits() {
        let inquiry = asked()
        #expect(inquiry.take(.sixelColours(1_000_000_000)) && inquiry.answers.sixelColours == nil)
        #expect(!inquiry.take(.mode(2004, state: 1)))
        #expect(inquiry.take(.mode(2026, state: 0)) && !inquiry.answers.synchronises)
    }

    @Test(
        "Sixel is an attribute and not a terminal class",
        arguments: [([62, 4], true), ([4, 6], false), ([1, 2], false), ([1, 2, 4], true), ([64, 14, 41], false)])
    func sixel(attributes: [Int], takesSixel: Bool) {
        let inquiry = asked()
        #expect(inquiry.take(.attributes(attributes)) && inquiry.answers.takesSixel == takesSixel)
    }

    @Test("The terminal around tmux has its own answers") func outerTerminal() {
        let inquiry = asked([.version, .cellSize])
        #expect(inquiry.take(.version("tmux 3.3a")) && inquiry.take(.attributes([1, 2])) && !inquiry.isOpen)
        inquiry.ask([.outerVersion, .outerKitty])
        // An answer of tmux itself does not count.
        #expect(!inquiry.take(.attributes([1, 2])))
        #expect(inquiry.take(.version("kitty(0.35.2)")) && inquiry.take(.kitty(number: 31, isOK: true)))
        #expect(!inquiry.isOpen && inquiry.answers.version == "tmux 3.3a")
        #expect(inquiry.answers.outerVersion == "kitty(0.35.2)" && inquiry.answers.outerTakesKitty)
    }

    /// A window gets the focus while the line is slow.
    @Test("Earlier answers stay when a repeated query times out") func keepsAnswers() {
        let inquiry = asked()
        #expect(inquiry.take(.cellSize(width: 10, height: 20)) && inquiry.take(.areaSize(width: 800, height: 480)))
        #expect(inquiry.take(.attributes([62, 4])))
        let known = inquiry.answers
        inquiry.ask([.cellSize, .areaSize])
        inquiry.giveUp()
        #expect(!inquiry.isOpen && inquiry.answers == known && known.takesSixel)
        // The late answer changes nothing.
        #expect(!inquiry.take(.cellSize(width: 9, height: 18)) && inquiry.answers == known)
    }

    /// A repeated query that the terminal passes over clears the earlier answer.
    @Test("A repeated query replaces earlier answers") func repeatedQuery() {
        let inquiry = asked()
        #expect(inquiry.take(.cellSize(width: 10, height: 20)) && inquiry.take(.attributes([62, 4])))
        inquiry.ask([.cellSize])
        #expect(inquiry.answers.cell != nil)
        #expect(inquiry.take(.attributes([62])))
        #expect(inquiry.answers.cell == nil && !inquiry.answers.takesSixel)
    }
}
