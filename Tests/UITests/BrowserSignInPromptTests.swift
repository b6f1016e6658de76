import Cells
import Foundation
import Model
import Session
import Settings
import TestSupport
import Testing
import Text

@testable import Cache
@testable import UI

/// The sign-in prompt while the user signs in with the browser.
@MainActor @Suite(.unlessItHangs) struct BrowserSignInPromptTests {
    private static let page =
        "https://cloud.example.org/login/v2/flow/" + String(repeating: "Zx8Kq3Lm", count: 16)

    /// Shows a question that offers the browser, and moves to the offer.
    private func screens(
        _ columns: Int = 80, _ rows: Int = 24, plain: Bool = false, clipboard: Bool = true
    ) async throws -> TestScreens {
        var settings = Settings()
        settings.syncOnOpen = false
        settings.plain = plain
        let screens = try TestScreens(settings)
        if !clipboard { screens.root.adopt(Capabilities(colours: .full, clipboard: false)) }
        screens.size = Size(columns: columns, rows: rows)
        try await screens.sync(["a", "b"])
        screens.open()
        screens.activity.ask(
            SignInQuestion(
                origin: try #require(Origin("https://cloud.example.org")), schemes: ["basic"], realm: "Nextcloud",
                browserServer: try Address("https://cloud.example.org/"), galleries: [screens.cache.id]))
        try await screens.until { screens.text.contains("User:") }
        screens.press(Key(.up))
        return screens
    }

    /// Starts a sign-in with the browser. The server names its page.
    private func waiting(_ screens: TestScreens, page: String = page) async throws -> BrowserSignIn {
        screens.press(Key(.enter))
        let signIn = try #require(await wanted(screens))
        screens.activity.setStage(.waiting(try Address(page)), of: signIn)
        try await screens.until { screens.text.contains("Open this address") }
        return signIn
    }

    /// Returns the sign-in that the network should make.
    private func wanted(_ screens: TestScreens) async -> BrowserSignIn? {
        await screens.wishes.browserSignIns().next()?.signIn
    }

    @Test("The address of the server’s page is shown whole and copied", arguments: [(80, 24), (40, 12), (200, 60)])
    func shown(columns: Int, rows: Int) async throws {
        let screens = try await screens(columns, rows)
        #expect(screens.text.contains("Or:       [sign in with the browser]"))
        #expect(screens.status.hasPrefix(" Enter: sign in with the browser"))
        _ = try await waiting(screens)
        let code = try #require(QRDrawing(Self.page, screens.context.theme.code))
        let frame = screens.frame()
        let shift = rows >= 60 ? code.size.columns + 2 : 1
        let text = (0..<rows).map { row in
            frame.row(row).dropFirst(shift).map(\.text).joined().trimmingCharacters(in: .whitespaces)
        }.joined()
        #expect(text.contains(Self.page))
        #expect(screens.text.contains("Keep:     [until I quit]") && screens.text.contains("https://cloud.example.org"))
        #expect(screens.copied == [Self.page])
        screens.press(Key(.enter))
        #expect(screens.copied == [Self.page, Self.page])
    }

    @Test("Without a clipboard, the page is only shown")
    func shownWithoutClipboard() async throws {
        let screens = try await screens(clipboard: false)
        _ = try await waiting(screens)
        #expect(screens.text.contains("Vitrine waits for your sign-in.") && !screens.text.contains("clipboard"))
        #expect(screens.status.hasPrefix(" Esc: cancel"))
        screens.press(Key(.enter))
        #expect(screens.copied.isEmpty && screens.text.contains("Vitrine waits for your sign-in."))
    }

    @Test("The server’s password is used as if typed, and kept where the user wants")
    func granted() async throws {
        let screens = try await screens()
        let signIn = try await waiting(screens)
        screens.press(Key(.right))
        #expect(screens.text.contains("[in a file]"))
        screens.press(Key(.left))
        screens.activity.setStage(.granted(.password(user: "me", password: "n3w")), of: signIn)
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[screens.list] != nil { break }
        let server = try Address("https://cloud.example.org/")
        #expect(
            screens.caches.credentials.signIn(for: server, in: screens.cache.address)
                == .password(user: "me", password: "n3w"))
        #expect(screens.activity.questions.isEmpty && !screens.text.contains("Keep:"))
        #expect(screens.activity.stage(of: signIn) == nil)
        #expect(await wanted(screens) == nil)
    }

    @Test("Escape ends the sign-in with the browser, and returns to the fields")
    func cancelled() async throws {
        let screens = try await screens()
        let signIn = try await waiting(screens)
        screens.press(Key(.escape))
        #expect(await wanted(screens) == nil)
        #expect(screens.activity.stage(of: signIn) == nil && screens.text.contains("Password:"))
        // A late password is not used.
        screens.activity.setStage(.granted(.password(user: "me", password: "n3w")), of: signIn)
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.root.modals.notice != nil }
        #expect(screens.text.contains("Password:") && screens.activity.questions.count == 1)
        // Another sign-in is new, and the end of the prompt ends it.
        let second = try await waiting(screens)
        #expect(second != signIn)
        screens.press(Key(.escape))
        screens.press(Key(.escape))
        #expect(await wanted(screens) == nil)
        #expect(screens.activity.questions.isEmpty && !screens.text.contains("Keep:"))
    }

    @Test("A withdrawn question ends the sign-in with the browser")
    func withdrawn() async throws {
        let screens = try await screens()
        let signIn = try await waiting(screens)
        screens.activity.withdrawQuestion(.origin(try #require(signIn.server.origin)))
        try await screens.until { !screens.text.contains("Keep:") }
        #expect(await wanted(screens) == nil)
    }

    @Test("A failure is reported, and Enter tries again")
    func failed() async throws {
        let screens = try await screens()
        screens.press(Key(.enter))
        let signIn = try #require(await wanted(screens))
        screens.activity.setStage(
            .failed(Failure("the server offers no sign-in with the browser\u{1B}[2J", remedy: .none)), of: signIn)
        try await screens.until { screens.text.contains("The sign-in failed") }
        #expect(screens.text.contains("The sign-in failed: the server offers no sign-in with the browser␛[2J."))
        #expect(screens.status.hasPrefix(" Enter: try again") && screens.copied.isEmpty)
        screens.press(Key(.enter))
        #expect(await wanted(screens).map { $0 != signIn } == true)
        #expect(screens.text.contains("Asking the server"))
    }

    @Test("Other questions offer no browser")
    func notOffered() async throws {
        let screens = try await screens()
        screens.press(Key(.up), Key(.escape))
        screens.activity.ask(
            SignInQuestion(
                origin: try #require(Origin("https://other.example.org")), schemes: ["basic"],
                galleries: [screens.cache.id]))
        try await screens.until { screens.text.contains("other.example.org") }
        #expect(!screens.text.contains("browser"))
        screens.press(Key(.up))
        #expect(screens.status.hasPrefix(" Enter: sign in  Esc"))
    }

    // MARK: - QR codes

    /// The modules of a QR code in a frame, with their border; nil where the frame shows no code.
    private func modules(_ frame: Surface) -> [[Bool]]? {
        let rows = (0..<frame.size.rows).map { row in
            frame.row(row).compactMap { cell -> (Bool, Bool)? in
                guard cell.style.background == .palette(231) else { return nil }
                return ("█▀".contains(cell.text), "█▄".contains(cell.text))
            }
        }.filter { !$0.isEmpty }
        return rows.isEmpty ? nil : rows.flatMap { [$0.map(\.0), $0.map(\.1)] }
    }

    @Test(
        "A large screen shows the address as a QR code, beside the text or above it", arguments: [(200, 60), (60, 60)])
    func code(columns: Int, rows: Int) async throws {
        let screens = try await screens(columns, rows)
        _ = try await waiting(screens)
        let modules = try #require(self.modules(screens.frame()))
        let code = try #require(QRCode(Self.page))
        let shown = (0..<code.side).map { row in (0..<code.side).map { modules[row + 2][$0 + 2] } }
        #expect(shown == (0..<code.side).map { row in (0..<code.side).map { code[$0, row] } })
        #expect(modules.allSatisfy { $0.count == code.side + 4 } && modules.first?.contains(true) == false)
        // The code disappears with the page.
        screens.press(Key(.escape))
        #expect(self.modules(screens.frame()) == nil)
    }

    @Test(
        "With a QR code, the choice of where to keep the password is whole", arguments: [90, 100, 108, 109, 112, 113])
    func keepingBesideCode(columns: Int) async throws {
        let screens = try await screens(columns, 40)
        _ = try await waiting(screens)
        #expect(modules(screens.frame()) != nil)
        #expect(screens.text.contains("Keep:     [until I quit]  in a file   in the keyring"))
        screens.press(Key(.left))
        #expect(screens.text.contains("Keep:      until I quit   in a file  [in the keyring]"))
    }

    @Test("A small screen, a long address and plain text have no QR code")
    func noCode() async throws {
        for (columns, rows) in [(80, 24), (40, 12), (56, 26), (50, 60)] {
            let screens = try await screens(columns, rows)
            _ = try await waiting(screens)
            #expect(modules(screens.frame()) == nil, "\(columns) × \(rows)")
        }
        let long = try await screens(200, 60)
        _ = try await waiting(long, page: "https://cloud.example.org/" + String(repeating: "a", count: 300))
        #expect(modules(long.frame()) == nil)
        let plain = try await screens(200, 60, plain: true)
        _ = try await waiting(plain)
        #expect(modules(plain.frame()) == nil)
    }

    @Test("In ASCII a module has two columns, and codes have their own colours if the terminal has colours")
    func looks() throws {
        func rows(_ capabilities: Capabilities) throws -> (text: [String], colours: Set<Colour>) {
            let kind = ThemeKind(.auto, on: capabilities)
            let drawing = try #require(QRDrawing("a", QRDrawing.Look(capabilities, kind)))
            var surface = Surface(size: drawing.size)
            drawing.draw(in: &surface, Rect(drawing.size))
            let cells = (0..<surface.size.rows).flatMap { surface.row($0) }
            return (
                (0..<surface.size.rows).map { row in surface.row(row).map(\.text).joined() },
                Set(cells.map(\.style.background))
            )
        }
        let code = try #require(QRCode("a"))
        func ascii(_ dark: String, _ light: String) -> [String] {
            (-2..<code.side + 2).map { row in (-2..<code.side + 2).map { code[$0, row] ? dark : light }.joined() }
        }
        let plain = try rows(Capabilities(unicode: false, colours: .none))
        #expect(plain.text == ascii("  ", "##") && plain.colours == [.terminal])
        let onLight = try rows(Capabilities(unicode: false, colours: .none, background: .rgb(255, 255, 255)))
        #expect(onLight.text == ascii("##", "  "))
        let coloured = try rows(Capabilities(unicode: false, colours: .sixteen))
        #expect(coloured.text == ascii("##", "  ") && coloured.colours == [.palette(0), .palette(15)])
        let unicode = try rows(Capabilities(colours: .none))
        #expect(unicode.text.count == 13 && unicode.text.first == String(repeating: "█", count: 25))
        #expect(try rows(Capabilities(colours: .eight)).colours == [.palette(7)])
    }
}
