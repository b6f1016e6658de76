import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct SignInPromptTests {
    private func question(
        _ screens: TestScreens, _ origin: String = "http://example.org", schemes: Set<String> = ["basic"],
        realm: String = "photos", wasRefused: Bool = false
    ) throws -> SignInQuestion {
        SignInQuestion(
            origin: try #require(Origin(origin)), schemes: schemes, realm: realm, wasRefused: wasRefused,
            galleries: [screens.cache.id])
    }

    private func screens(_ change: (inout Settings) -> Void = { _ in }) async throws -> TestScreens {
        var settings = Settings()
        settings.syncOnOpen = false
        change(&settings)
        let screens = try TestScreens(settings)
        try await screens.sync(["a", "b"])
        screens.open()
        return screens
    }

    @Test("BEHAVIOURS 5.10: the sign-in prompt opens on every screen, and the answer retries the gallery")
    func answered() async throws {
        let screens = try await screens()
        screens.press(Key(.enter))
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("asks you to sign in: “photos”") }
        #expect(screens.text.contains("http://example.org\n") || screens.text.contains(" http://example.org "))
        #expect(screens.text.contains("Not encrypted: others can read what you type."))
        #expect(screens.title.hasPrefix(" Photo a") && screens.status.hasPrefix(" Enter: next field  Esc: cancel"))
        // Keys that are commands on the screen below are text in the prompt.
        screens.type("mqe")
        screens.press(Key(.enter))
        screens.type("s3c")
        screens.paste("ret")
        #expect(screens.text.contains("User:     mqe") && screens.text.contains("Password: ••••••"))
        #expect(!screens.text.contains("s3c"))
        #expect(screens.frame().cursor != nil)
        screens.press(Key(.enter))
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[screens.list] != nil { break }
        #expect(screens.cache.signIn(for: screens.cache.address) == .password(user: "mqe", password: "s3cret"))
        #expect(!screens.text.contains("asks you to sign in") && screens.activity.questions.isEmpty)
        #expect(screens.frame().cursor == nil)
        #expect(!screens.log.entries.contains { $0.message.contains("s3cret") })
    }

    @Test("BEHAVIOURS 5.10: a gallery that joins an open prompt does not get the password, and asks again")
    func joins() async throws {
        let screens = try await screens()
        let other = try screens.caches.open(Address("http://example.net/album/index.xml"))
        let password = SignIn.password(user: "me", password: "s3cret")
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("asks you to sign in") }
        var joined = try question(screens)
        joined.galleries = [other.id]
        screens.activity.ask(joined)
        try await screens.until {
            guard case .signIn(let prompt)? = screens.root.modals.current else { return false }
            return prompt.question.galleries.count == 2
        }
        screens.type("me")
        screens.press(Key(.enter))
        screens.type("s3cret")
        screens.press(Key(.enter))
        #expect(screens.cache.signIn(for: screens.cache.address) == password)
        #expect(other.signIn(for: screens.cache.address) == nil)
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[.list(other.id)] != nil { break }
        screens.activity.ask(joined)
        try await screens.until {
            screens.text.contains("The gallery example.net/album/index.xml has photos on this server.")
        }
        screens.type("me")
        screens.press(Key(.enter))
        screens.type("s3cret")
        screens.press(Key(.enter))
        #expect(other.signIn(for: screens.cache.address) == password)
    }

    @Test("A question for an API key asks for one text")
    func apiKey() async throws {
        let screens = try await screens()
        var question = try question(screens, schemes: [], realm: "", wasRefused: true)
        question.keyHeader = "x-api-key"
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("The previous API key was rejected.") }
        #expect(!screens.text.contains("User:") && screens.text.contains("API key:"))
        screens.type("k3y")
        screens.press(Key(.enter))
        #expect(screens.cache.signIn(for: screens.cache.address) == .header(name: "x-api-key", value: "k3y"))
        #expect(screens.activity.questions.isEmpty)
    }

    @Test("A question for a password or an API key asks for a name and a secret")
    func passwordOrKey() async throws {
        let screens = try await screens()
        var question = try question(screens, schemes: ["basic"], realm: "", wasRefused: true)
        question.keyHeader = "x-api-key"
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("The previous password or API key was rejected.") }
        #expect(screens.text.contains("User:"))
        #expect(screens.text.contains("To use an API key, enter its id as the user name."))
        screens.type("me")
        screens.press(Key(.enter))
        screens.type("s3cret")
        screens.press(Key(.enter))
        #expect(screens.cache.signIn(for: screens.cache.address) == .password(user: "me", password: "s3cret"))
    }

    @Test("A question for a token has the server’s own name for the token")
    func namedToken() async throws {
        let screens = try await screens()
        var question = try question(screens, schemes: ["bearer"], realm: "", wasRefused: true)
        question.tokenName = "app password"
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("The previous app password was rejected.") }
        #expect(!screens.text.contains("User:") && screens.text.contains("App password:"))
        screens.type("t0ken")
        screens.press(Key(.enter))
        #expect(screens.cache.signIn(for: screens.cache.address) == .token("t0ken"))
    }

    @Test("BEHAVIOURS 5.10: a storage service gets an access key for its region")
    func accessKey() async throws {
        let screens = try await screens()
        var question = try question(
            screens, "http://example.org", schemes: [SignInQuestion.signatureScheme], realm: "", wasRefused: true)
        question.region = "garage"
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("The previous access key was rejected.") }
        // A signature does not reveal the secret.
        #expect(!screens.text.contains("Not encrypted"))
        screens.type("AKID")
        screens.press(Key(.enter))
        screens.type("s3cret")
        #expect(screens.text.contains("Key:      AKID") && screens.text.contains("Secret:   ••••••"))
        screens.press(Key(.enter))
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[screens.list] != nil { break }
        #expect(
            screens.cache.signIn(for: screens.cache.address)
                == .accessKey(AccessKey(id: "AKID", secret: "s3cret", region: "garage")))
    }

    @Test("BEHAVIOURS 5.10: a look-alike host is shown with its encoded name")
    func lookAlike() async throws {
        let screens = try await screens()
        screens.activity.ask(try question(screens, try #require(Address("https://аpple.com:8443/").origin).text))
        try await screens.until { screens.text.contains("asks you to sign in") }
        #expect(screens.text.contains(" https://xn--pple-43d.com (аpple.com):8443"))
    }

    @Test("BEHAVIOURS 5.10: Escape declines, and a rejected password is reported")
    func declined() async throws {
        let screens = try await screens()
        screens.activity.ask(try question(screens, "https://example.org", wasRefused: true))
        try await screens.until { screens.text.contains("The previous password was rejected.") }
        #expect(!screens.text.contains("Not encrypted"))
        screens.type("me")
        screens.press(Key(.escape))
        #expect(!screens.text.contains("asks you to sign in") && screens.selected == "Photo a")
        screens.activity.ask(try question(screens, "https://example.org"))
        #expect(screens.activity.questions.isEmpty && !screens.wishes.isStanding(screens.list))
        screens.press("r")
        screens.activity.ask(try question(screens, "https://example.org"))
        try await screens.until { screens.text.contains("asks you to sign in") }
    }

    @Test("BEHAVIOURS 5.10: a proxy is named, and its password goes to it only")
    func proxies() async throws {
        let screens = try await screens()
        let proxy = "http://proxy.org:3128"
        var question = try question(screens, "https://pictures.org", realm: "way out", wasRefused: true)
        question.proxy = proxy
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("This proxy asks you to sign in: “way out”") }
        #expect(screens.text.contains(proxy) && !screens.text.contains("pictures.org"))
        #expect(screens.text.contains("The previous password was rejected."))
        #expect(screens.text.contains("Not encrypted: others can read what you type."))
        screens.type("me")
        screens.press(Key(.escape))
        screens.activity.ask(question)
        #expect(screens.activity.questions.isEmpty)
        screens.press("r")
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("This proxy asks you to sign in") }
        screens.type("me")
        screens.press(Key(.enter))
        screens.type("s3cret")
        screens.press(Key(.enter))
        let credentials = screens.root.context.caches.credentials
        #expect(credentials.signIn(forProxy: proxy) == .password(user: "me", password: "s3cret"))
        #expect(credentials.signIn(forProxy: "http://other.org:3128") == nil)
        #expect(screens.cache.signIn(for: screens.cache.address) == nil && screens.activity.questions.isEmpty)
        // The requests that the proxy refused are repeated.
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[screens.list] != nil { break }
    }

    @Test(
        "BEHAVIOURS 5.10: the user's name that was refused is filled in, and the password is typed next",
        arguments: [false, true])
    func nameIsKept(isProxy: Bool) async throws {
        let screens = try await screens()
        var question = try question(screens, "https://example.org")
        if isProxy { question.proxy = "http://proxy.org:3128" }
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("User:") }
        screens.type("anna")
        screens.press(Key(.enter))
        screens.type("wrong")
        screens.press(Key(.enter))
        // It is refused.
        let credentials = screens.root.context.caches.credentials
        if isProxy { credentials.recordRefusal(byProxy: "http://proxy.org:3128") { _ in true } }
        let sent = isProxy ? nil : SignIn.password(user: "anna", password: "wrong")
        #expect(await !credentials.hasOther(than: sent, for: question.place, in: screens.cache.address))
        question.wasRefused = true
        screens.activity.ask(question)
        try await screens.until { screens.text.contains("User:     anna") }
        let frame = screens.frame()
        #expect(frame.cursor.map { frame.text(inRow: $0.row) } == " Password:")
        screens.type("right")
        screens.press(Key(.enter))
        let known =
            isProxy
            ? credentials.signIn(forProxy: "http://proxy.org:3128")
            : credentials.signIn(for: try Address("https://example.org/"), in: screens.cache.address)
        #expect(known == .password(user: "anna", password: "right"))
    }

    @Test func aTokenPromptHasOneFieldAndRefusesAnEmptyToken() async throws {
        let screens = try await screens()
        screens.activity.ask(try question(screens, schemes: ["bearer"]))
        try await screens.until { screens.text.contains("Token:") }
        #expect(!screens.text.contains("User:"))
        screens.press(Key(.enter))
        #expect(screens.text.contains("Token:"))
        screens.type("abc")
        screens.press(Key(.enter))
        #expect(screens.cache.signIn(for: screens.cache.address) == .token("abc"))
    }

    @Test func theUserChoosesWhereToKeepThePassword() async throws {
        let screens = try await screens { $0.passwords = .file }
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("[in a file]") }
        // Move to the next field and back.
        screens.press(Key(.tab), Key(.tab), Key(.right))
        #expect(screens.text.contains("[in the keyring]"))
        screens.press(Key(.right), .character("x"), Key(.left), Key(.left))
        #expect(screens.text.contains("[in a file]"))
        screens.press(Key(.tab))
        screens.type("me")
        screens.press(Key(.tab, .shift))
        var suspensions = 0
        screens.root.host.onSuspend = { suspensions += 1 }
        screens.press(.control("z"))
        #expect(suspensions == 1 && screens.text.contains("asks you to sign in"))
        screens.press(Key(.enter))
        #expect(!screens.text.contains("asks you to sign in"))
        #expect(screens.cache.signIn(for: screens.cache.address) == .password(user: "me", password: ""))
    }

    @Test("In a narrow window, the prompt shows the chosen place of the password", arguments: [20, 40, 54])
    func chosenPlaceInANarrowWindow(columns: Int) async throws {
        let screens = try await screens { $0.passwords = .keyring }
        screens.size = Size(columns: columns, rows: 12)
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("Password:") }
        #expect(screens.text.contains("[in the keyring]") && !screens.text.contains("until"))
        screens.press(Key(.tab), Key(.tab), Key(.right))
        #expect(screens.text.contains("[until I quit]") && !screens.text.contains("keyring"))
    }

    @Test("After a rejected password, the prompt keeps the choice to store it")
    func choiceIsKept() async throws {
        let screens = try await screens()
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("[until I quit]") }
        screens.type("me")
        screens.press(Key(.enter))
        screens.type("wrong")
        screens.press(Key(.tab), Key(.right))
        #expect(screens.text.contains("[in a file]"))
        screens.press(Key(.enter))
        screens.activity.ask(try question(screens, wasRefused: true))
        try await screens.until { screens.text.contains("The previous password was rejected.") }
        #expect(screens.text.contains("[in a file]"))
        screens.press(Key(.escape))
        // The choice is not for other servers.
        screens.activity.ask(try question(screens, "http://example.net", wasRefused: true))
        try await screens.until { screens.text.contains("http://example.net") }
        #expect(screens.text.contains("[until I quit]"))
    }

    @Test("BEHAVIOURS 5.8: passwords are stored before the end, or the failure is reported")
    func keptBeforeTheEnd() async throws {
        let gate = Gate()
        let keeping = CredentialKeeping(lookUp: { _ in nil }) { _, place, keeping in
            await Task.detached { gate.wait() }.value ? "The \(keeping) is full." : nil
        }
        var settings = Settings()
        settings.passwords = .keyring
        let screens = try TestScreens(settings, keeping: keeping)
        screens.open()
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("asks you to sign in") }
        screens.type("me")
        screens.press(Key(.enter), Key(.enter))
        async let end = screens.root.finish()
        gate.open()
        #expect(await end == "The keyring is full.")
        #expect(screens.status == " The keyring is full. Vitrine remembers your sign-in until you quit.")
    }

    @Test func aSignInRetriesAGalleryThatIsNotOpen() async throws {
        let screens = try TestScreens()
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("asks you to sign in") }
        #expect(screens.title.hasPrefix(" Galleries"))
        screens.type("me")
        screens.press(Key(.enter), Key(.enter))
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[screens.list] != nil { break }
        #expect(await screens.wished().map(\.subject) == [screens.list])
    }

    @Test func aSignInWaitsForAQuestion() async throws {
        let screens = try await screens()
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        screens.press(" ", " ", "D")
        #expect(screens.status.contains("(y/n)"))
        screens.activity.ask(try question(screens))
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.root.modals.notice != nil }
        #expect(!screens.text.contains("asks you to sign in"))
        screens.press("n")
        #expect(screens.text.contains("asks you to sign in"))
    }

    @Test func aSignInWaitsForTyping() async throws {
        let screens = try await screens()
        screens.press("/")
        screens.type("b")
        screens.activity.ask(try question(screens))
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.status == " Something happened." }
        #expect(!screens.text.contains("asks you to sign in"))
        screens.press(Key(.enter))
        #expect(screens.text.contains("asks you to sign in"))
    }

    @Test func foreignTextIsMadeVisibleAndHostsAreShownWhole() async throws {
        let screens = try await screens()
        let host = "http://" + String(repeating: "a", count: 90) + ".example.net"
        screens.activity.ask(try question(screens, host, realm: "x\u{1B}[2J\u{202E}y"))
        try await screens.until { screens.text.contains("asks you to sign in") }
        #expect(screens.text.contains("␛[2J") && !screens.text.unicodeScalars.contains("\u{202E}"))
        #expect(screens.text.contains(".example.net"))
        // The gallery itself lies elsewhere.
        #expect(screens.text.contains("The gallery example.org/album/index.xml has photos on this server."))
    }

    @Test(arguments: [5, 6, 7, 8, 9, 10]) func inASmallWindowTheFieldIsVisible(rows: Int) async throws {
        let screens = try await screens()
        screens.size = Size(columns: 20, rows: rows)
        screens.activity.ask(try question(screens))
        try await screens.until { screens.text.contains("User:") }
        screens.press(Key(.enter))
        #expect(screens.text.contains("Password:") && screens.text.contains("http://example.org"))
    }
}
