import Cells
import Model
import Session
import Text

/// Asks the user to sign in to a server or proxy, over the screen on top.
///
/// The prompt draws the password as dots, and clears the password at the end. If the server permits, the user can sign
/// in with the browser instead. Then the prompt waits until the server has made a password.
@MainActor
final class SignInPrompt: Responder {
    /// The user's sign-in, and the place where Vitrine keeps the password.
    struct Answer {
        let signIn: SignIn
        let keeping: SignInKeeping
    }

    /// Called with the user's answer; nil if the user cancels.
    var onAnswer: (Answer?) -> Void = { _ in }
    /// Called when the user starts a sign-in with the browser. Called with nil when the user cancels it.
    var onBrowser: (Address?) -> Void = { _ in }
    /// Called with text for the terminal's clipboard.
    var onCopy: (String) -> Void = { _ in }

    /// The request for a sign-in. Not private because ``SignIns`` compares it with new requests.
    private(set) var question: SignInQuestion
    /// The title of the gallery that needs the sign-in, if the gallery is on another server.
    private let asker: String?
    /// Whether the terminal has a clipboard for the address of the server's page.
    private let hasClipboard: Bool
    private let user = TextField()
    private let secret = TextField(isMasked: true)
    private var keeping: SignInKeeping
    private var focused: Field
    /// The sign-in with the browser; nil while the prompt shows its fields.
    private var browser: BrowserSignInPane?

    private enum Field { case user, secret, keeping, browser }

    /// Creates the prompt for a request.
    ///
    /// - Parameter name: the user name of a rejected sign-in. The cursor then starts in the password field, because the
    ///   password was probably wrong.
    init(
        _ question: SignInQuestion, asker: String?, keeping: SignInKeeping, user name: String? = nil, hasClipboard: Bool
    ) {
        self.question = question
        self.asker = asker
        self.hasClipboard = hasClipboard
        self.keeping = keeping
        let isNamed = name?.isEmpty == false
        focused = question.wantsToken || isNamed ? .secret : .user
        super.init()
        if let name { user.begin(name) }
        for field in [user, secret] {
            field.onEnter = { [weak self] _ in self?.goOn() }
            field.onEscape = { [weak self] in self?.end(nil) }
        }
    }

    /// Replaces the request by a newer version of the same request.
    func update(_ question: SignInQuestion) {
        self.question = question
    }

    // MARK: - The browser

    private func beginBrowser() {
        guard let server = question.browserServer else { return }
        secret.begin()
        browser = BrowserSignInPane(stage: .starting, hasClipboard: hasClipboard)
        onBrowser(server)
    }

    private func cancelBrowser() {
        browser = nil
        onBrowser(nil)
    }

    private func copy(_ page: Address) {
        if hasClipboard { onCopy(page.text) }
    }

    /// Shows the progress of the sign-in with the browser. Copies the address of the server's page, and ends the prompt
    /// with the password that the server made.
    func show(_ stage: BrowserSignIn.Stage) {
        guard let shown = browser, shown.stage != stage else { return }
        browser?.stage = stage
        switch stage {
        case .waiting(let page): copy(page)
        case .granted(let signIn): end(Answer(signIn: signIn, keeping: keeping))
        case .starting, .failed: break
        }
    }

    /// Handles a key while the user signs in with the browser.
    private func handle(_ key: Key, in browser: BrowserSignInPane) {
        switch (key.code, key.modifiers) {
        case (.escape, _), (.character("c"), .control), (.character("g"), .control): cancelBrowser()
        case (.enter, _):
            if let page = browser.page { copy(page) } else if browser.hasFailed { beginBrowser() }
        case (.left, _): choose(by: -1)
        case (.right, _), (.character(" "), _): choose(by: 1)
        default: break
        }
    }

    // MARK: - Input

    override var takesKeys: Bool { true }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        if let browser {
            if case .key(let key) = event { handle(key, in: browser) }
            return nil
        }
        if case .key(let key) = event, handle(key) { return nil }
        switch focused {
        case .user: _ = user.handle(event)
        case .secret: _ = secret.handle(event)
        case .keeping, .browser: break
        }
        return nil
    }

    /// Handles keys that move between the fields, and all keys in fields without text. Returns false for other keys.
    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.tab, .shift), (.up, _): step(by: -1)
        case (.tab, _), (.down, _): step(by: 1)
        case _ where focused == .user || focused == .secret: return false
        case (.escape, _), (.character("c"), .control): end(nil)
        case (.enter, _): if focused == .browser { beginBrowser() } else { goOn() }
        case (.left, _) where focused == .keeping: choose(by: -1)
        case (.right, _) where focused == .keeping, (.character(" "), _) where focused == .keeping: choose(by: 1)
        default: break
        }
        return true
    }

    private var fields: [Field] {
        (question.wantsToken ? [] : [.user]) + [.secret, .keeping] + (question.browserServer == nil ? [] : [.browser])
    }

    private func step(by amount: Int) {
        let index = (fields.firstIndex(of: focused) ?? 0) + amount
        focused = fields[(index + fields.count) % fields.count]
    }

    private func choose(by amount: Int) {
        let all = SignInKeeping.allCases
        let index = (all.firstIndex(of: keeping) ?? 0) + amount
        keeping = all[(index + all.count) % all.count]
    }

    /// Handles the Enter key: goes from the name to the password, or ends the prompt.
    private func goOn() {
        guard focused != .user else { return step(by: 1) }
        guard question.wantsToken else {
            return end(Answer(signIn: question.signIn(name: user.text, secret: secret.text), keeping: keeping))
        }
        guard !secret.text.isEmpty else { return focused = .secret }
        end(Answer(signIn: question.signIn(token: secret.text), keeping: keeping))
    }

    private func end(_ answer: Answer?) {
        secret.begin()
        onAnswer(answer)
    }

    // MARK: - Drawing

    /// The contents of the bottom line.
    var footing: Screen.Footing {
        if let browser { return Screen.Footing(text: browser.footing) }
        return switch focused {
        case .user: Screen.Footing(text: "Enter: next field  Esc: cancel")
        case .secret, .keeping: Screen.Footing(text: "Enter: sign in  Esc: cancel")
        case .browser: Screen.Footing(text: "Enter: sign in with the browser  Esc: cancel")
        }
    }

    /// Draws the prompt over the bottom of the frame.
    ///
    /// In a small frame the fields come first, then the server, then the warnings.
    func draw(in surface: inout Surface, frame: Rect, theme: Theme) {
        if let browser {
            return browser.draw(
                in: &surface, frame: frame, theme: theme, heading: heading, keepingWidth: Self.keepingWidth
            ) {
                draw(.keeping, isFocused: true, in: &$0, $1, theme)
            }
        }
        let width = max(1, frame.size.columns - 2)
        let lines = lines(width: width)
        let shownFields = frame.size.rows > fields.count ? fields : [focused]
        var rest = frame
        var pane = rest.takeBottom(min(frame.size.rows, lines.count + shownFields.count + 1))
        surface.fill(pane, style: theme.status)
        if pane.size.rows > lines.count + shownFields.count { theme.drawRule(in: &surface, &pane) }
        pane.trimSides()
        for line in lines.prefix(max(0, pane.size.rows - shownFields.count)) {
            surface.write(line.text, in: pane.takeTop(1), style: line.isTrouble ? theme.trouble : theme.name)
        }
        for field in shownFields { draw(field, isFocused: field == focused, in: &surface, pane.takeTop(1), theme) }
    }

    /// Returns lines that name the server or proxy. If the connection is not encrypted, adds a warning.
    private func heading(width: Int) -> [(text: String, isTrouble: Bool)] {
        // Show the whole host name, because its end identifies the owner.
        let host = (question.proxy.map(HostName.shown) ?? question.origin.description).cut(toWidth: width)
        let warning = question.isReadableOnTheWay ? ["Not encrypted: others can read what you type."] : []
        return host.map { ($0, false) } + warning.map { ($0.truncated(toWidth: width), true) }
    }

    private func lines(width: Int) -> [(text: String, isTrouble: Bool)] {
        let heading = heading(width: width)
        var lines = heading.filter { !$0.isTrouble }
        let request = question.isProxy ? "This proxy asks you to sign in" : "This server asks you to sign in"
        let realm = question.realm.isEmpty ? "" : ": “\(question.realm.madeVisible)”"
        lines.append(((request + realm).truncated(toWidth: width), false))
        if question.wantsPasswordOrKey {
            lines.append(("To use an API key, enter its id as the user name.".truncated(toWidth: width), false))
        }
        if question.wasRefused {
            lines.append(("The previous \(question.secretName) was rejected.".truncated(toWidth: width), true))
        }
        lines += heading.filter(\.isTrouble)
        if let asker {
            lines.append(
                ("The gallery \(asker.madeVisible) has photos on this server.".truncated(toWidth: width), false))
        }
        return lines
    }

    private func draw(_ field: Field, isFocused: Bool, in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        let label =
            switch field {
            case .user: question.wantsAccessKey ? "Key:      " : "User:     "
            case .secret: secretLabel
            case .keeping: Self.keepingLabel
            case .browser: "Or:       "
            }
        var labelWidth = min(label.count, rest.size.columns / 2)
        // The place of the password is more important than its label.
        if field == .keeping { labelWidth = min(labelWidth, max(0, rest.size.columns - Self.name(keeping).count - 2)) }
        surface.write(label, in: rest.takeLeft(labelWidth), style: theme.detail)
        switch field {
        case .user: draw(user, isFocused: isFocused, in: &surface, rest)
        case .secret: draw(secret, isFocused: isFocused, in: &surface, rest)
        case .browser:
            surface.write(
                isFocused ? "[sign in with the browser]" : " sign in with the browser ", in: rest,
                style: isFocused ? theme.selectedName : theme.detail)
        case .keeping:
            // A narrow window has room for the chosen place only.
            for keeping in line.size.columns < Self.keepingWidth ? [self.keeping] : SignInKeeping.allCases {
                let isChosen = keeping == self.keeping
                let text = isChosen ? "[\(Self.name(keeping))]" : " \(Self.name(keeping)) "
                let style = !isChosen ? theme.detail : isFocused ? theme.selectedName : theme.name
                _ = rest.takeLeft(surface.write(text, in: rest, style: style))
                _ = rest.takeLeft(1)
            }
        }
    }

    private var secretLabel: String {
        if question.wantsAccessKey { return "Secret:   " }
        if question.wantsToken, let name = question.tokenName {
            return name.prefix(1).uppercased() + name.dropFirst() + ": "
        }
        return !question.wantsToken ? "Password: " : question.keyHeader == nil ? "Token:    " : "API key:  "
    }

    private func draw(_ field: TextField, isFocused: Bool, in surface: inout Surface, _ frame: Rect) {
        let cursor = surface.cursor
        field.draw(in: &surface, frame)
        if !isFocused { surface.cursor = cursor }
    }

    private static let keepingLabel = "Keep:     "
    /// The columns of the choice of where to keep the password. Each place has brackets or spaces, and a gap before it.
    private static let keepingWidth = SignInKeeping.allCases.reduce(keepingLabel.count - 1) { $0 + name($1).count + 3 }

    private static func name(_ keeping: SignInKeeping) -> String {
        switch keeping {
        case .session: "until I quit"
        case .file: "in a file"
        case .keyring: "in the keyring"
        }
    }
}

/// Opens a prompt for each server that asks for a sign-in, one after the other.
@MainActor
final class SignIns {
    /// Called when a prompt opens, changes or closes.
    var onChange: () -> Void = {}
    /// The responder that shows notices and copies text. Not private because the root screen sets this property.
    weak var sender: Responder?
    /// Called after a sign-in, for each gallery that Vitrine can now request again.
    var onAnswered: (GalleryID) -> Void = { _ in }

    /// The open prompt, if there is one.
    private(set) var prompt: SignInPrompt?
    private let context: ScreenContext
    /// The task that stores the last sign-in. The task returns a sentence for the user if a sign-in could not be
    /// stored.
    private var storing: Task<String?, Never>?
    /// The sign-in with the browser that the prompt waits for.
    private var browserSignIn: BrowserSignIn?
    /// The user's last choice for each server or proxy.
    private var choices: [SignInPlace: SignInKeeping] = [:]

    init(_ context: ScreenContext) {
        self.context = context
    }

    /// Waits until all sign-ins are stored. Returns a sentence for the user if that failed.
    func settled() async -> String? { await storing?.value }

    /// Opens, updates or closes the prompt, because the servers' requests have changed.
    func questionsChanged() {
        if let prompt {
            if let same = context.activity.questions.first(where: { $0.place == prompt.question.place }) {
                prompt.update(same)
            } else {
                endBrowser()
                self.prompt = nil
            }
        }
        if let browserSignIn, let stage = context.activity.stage(of: browserSignIn) { prompt?.show(stage) }
        for gallery in context.activity.takeAnswered() { onAnswered(gallery) }
    }

    /// Opens the prompt for the next request, unless a prompt is open.
    func presentNext() {
        guard prompt == nil, let question = context.activity.questions.first else { return }
        // A proxy belongs to no gallery.
        let askers = question.isProxy ? [] : question.galleries
        let asker = askers.lazy.compactMap { self.context.caches.cache($0)?.address }
            .first { $0.origin != question.origin }
        // The right password must replace a wrong one that is stored.
        let choice = question.wasRefused ? choices[question.place] : nil
        let prompt = SignInPrompt(
            // Name the location, because a list could give its gallery the name of another server.
            question, asker: asker.map { GalleryTitle.text($0) }, keeping: choice ?? context.settings.passwords,
            user: question.wasRefused ? context.caches.credentials.refusedUser(at: question.place) : nil,
            hasClipboard: context.capabilities.clipboard)
        prompt.onAnswer = { [weak self, weak prompt] answer in
            guard let self, let prompt else { return }
            end(prompt.question, answer, for: asker.map { GalleryID($0) })
        }
        prompt.onBrowser = { [weak self, weak prompt] server in
            guard let self, let prompt else { return }
            endBrowser()
            if let server { beginBrowser(at: server, for: prompt.question.galleries) }
        }
        prompt.onCopy = { [weak self] in self?.sender?.send(.copy($0)) }
        self.prompt = prompt
        onChange()
    }

    private func beginBrowser(at server: Address, for galleries: Set<GalleryID>) {
        let signIn = context.activity.beginSignIn(withBrowserAt: server, for: galleries)
        browserSignIn = signIn
        context.wishes.signIn(withBrowser: signIn)
    }

    private func endBrowser() {
        guard let signIn = browserSignIn else { return }
        browserSignIn = nil
        context.wishes.signIn(withBrowser: nil)
        context.activity.endSignIn(signIn)
    }

    /// Closes the prompt and passes on the user's answer.
    ///
    /// - Parameter asker: the gallery on another server that the prompt named; nil for none.
    private func end(_ question: SignInQuestion, _ answer: SignInPrompt.Answer?, for asker: GalleryID?) {
        endBrowser()
        prompt = nil
        onChange()
        guard let answer else { return context.activity.declineQuestion(question.place) }
        choices[question.place] = answer.keeping
        let credentials = context.caches.credentials
        // Galleries of this server may use the sign-in anyway. The user has not read the names of further galleries on
        // other servers, so the server refuses their requests again, and each gallery gets a prompt of its own.
        credentials.take(answer.signIn, for: question.place, by: Set([asker].compactMap(\.self)))
        context.activity.withdrawQuestion(question.place)
        for gallery in question.galleries { context.activity.recordAnswer(for: gallery) }
        guard answer.keeping != .session else { return }
        storing = Task { [weak self, previous = storing] in
            let earlier = await previous?.value
            let failure = await credentials.keep(answer.signIn, for: question.place, answer.keeping)
            guard let failure else { return earlier }
            self?.sender?.send(.notice("\(failure) Vitrine remembers your sign-in until you quit."))
            return failure
        }
    }
}
