import Cells
import Model
import Text

/// Asks who the user is, for a server that wants to know. Over whatever screen is on top.
///
/// What is typed as a password is drawn as dots, and forgotten when the prompt ends.
@MainActor
final class SignInPrompt: Responder {
    /// What the user says, and where it is to be kept.
    struct Answer {
        let signIn: SignIn
        let keeping: SignInKeeping
    }

    /// Called with the answer; nil where the user does not want to say.
    var onAnswer: (Answer?) -> Void = { _ in }

    private(set) var question: SignInQuestion
    /// The gallery on whose behalf it is asked, where its origin is another.
    private let asker: String?
    private let user = TextField()
    private let secret = TextField(isMasked: true)
    private var keeping: SignInKeeping
    private var place: Field

    private enum Field: CaseIterable { case user, secret, keeping }

    /// - Parameter name: the user's name that was refused, most likely for its password. The cursor stands in the password then.
    init(_ question: SignInQuestion, asker: String?, keeping: SignInKeeping, user name: String? = nil) {
        self.question = question
        self.asker = asker
        self.keeping = keeping
        let isNamed = name?.isEmpty == false
        place = question.wantsToken || isNamed ? .secret : .user
        super.init()
        if let name { user.begin(name) }
        for field in [user, secret] {
            field.onEnter = { [weak self] _ in self?.goOn() }
            field.onEscape = { [weak self] in self?.end(nil) }
        }
    }

    /// The same question with more to be said of it.
    func take(_ question: SignInQuestion) {
        self.question = question
    }

    // MARK: - What happens

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        if case .key(let key) = event, handle(key) { return nil }
        switch place {
        case .user: _ = user.handle(event)
        case .secret: _ = secret.handle(event)
        case .keeping: break
        }
        return nil
    }

    /// Keys that lead from field to field, and those of the one that is a choice.
    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.tab, .shift), (.up, _): step(by: -1)
        case (.tab, _), (.down, _): step(by: 1)
        case (.escape, _) where place == .keeping, (.character("c"), .control) where place == .keeping: end(nil)
        case (.enter, _) where place == .keeping: goOn()
        case (.left, _) where place == .keeping: choose(by: -1)
        case (.right, _) where place == .keeping, (.character(" "), _) where place == .keeping: choose(by: 1)
        default: return place == .keeping
        }
        return true
    }

    private var fields: [Field] { question.wantsToken ? [.secret, .keeping] : Field.allCases }

    private func step(by amount: Int) {
        let index = (fields.firstIndex(of: place) ?? 0) + amount
        place = fields[(index + fields.count) % fields.count]
    }

    private func choose(by amount: Int) {
        let all = SignInKeeping.allCases
        let index = (all.firstIndex(of: keeping) ?? 0) + amount
        keeping = all[(index + all.count) % all.count]
    }

    /// Enter: from the user's name to the password, and from there it is said.
    private func goOn() {
        guard place != .user else { return step(by: 1) }
        guard question.wantsToken else {
            return end(Answer(signIn: .password(user: user.text, password: secret.text), keeping: keeping))
        }
        guard !secret.text.isEmpty else { return place = .secret }
        end(Answer(signIn: .token(secret.text), keeping: keeping))
    }

    private func end(_ answer: Answer?) {
        secret.begin()
        onAnswer(answer)
    }

    // MARK: - How it looks

    /// What the line at the bottom says meanwhile.
    var footing: Screen.Footing {
        Screen.Footing(text: place == .user ? "Enter goes on, Esc does not say" : "Enter says so, Esc does not")
    }

    /// Draws itself at the bottom of the room, over what is there. Where there is little of it, the fields come first, then
    /// who asks, then that others can listen.
    func draw(in surface: inout Surface, frame: Rect, theme: Theme) {
        let width = max(1, frame.size.columns - 2)
        let lines = lines(width: width)
        let shownFields = frame.size.rows > fields.count ? fields : [place]
        var rest = frame
        var pane = rest.takeBottom(min(frame.size.rows, lines.count + shownFields.count + 1))
        surface.fill(pane, style: theme.status)
        if pane.size.rows > lines.count + shownFields.count {
            let rule = pane.takeTop(1)
            surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        }
        _ = pane.takeLeft(1)
        _ = pane.takeRight(1)
        for line in lines.prefix(max(0, pane.size.rows - shownFields.count)) {
            surface.write(line.text, in: pane.takeTop(1), style: line.isTrouble ? theme.trouble : theme.name)
        }
        for field in shownFields { draw(field, in: &surface, pane.takeTop(1), theme) }
    }

    private func lines(width: Int) -> [(text: String, isTrouble: Bool)] {
        var lines: [(text: String, isTrouble: Bool)] = []
        // All of it, however long: the end of a host's name says whose it is.
        let host = (question.proxy.map(HostName.shown) ?? question.origin.description).cut(toWidth: width)
        lines += host.map { ($0, false) }
        let what = question.isProxy ? "is a proxy, which wants to know who you are" : "wants to know who you are"
        let realm = question.realm.isEmpty ? "" : ": “\(question.realm.madeVisible)”"
        lines.append(((what + realm).truncated(toWidth: width), false))
        if question.wasRefused { lines.append(("What was said before is refused.".truncated(toWidth: width), true)) }
        if question.isReadableOnTheWay {
            lines.append(("Others can read it on its way: this is not encrypted.".truncated(toWidth: width), true))
        }
        if let asker {
            lines.append(("It is \(asker.madeVisible) that has pictures there.".truncated(toWidth: width), false))
        }
        return lines
    }

    private func draw(_ field: Field, in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        let label =
            switch field {
            case .user: "User:     "
            case .secret: question.wantsToken ? "Token:    " : "Password: "
            case .keeping: "Keep it:  "
            }
        surface.write(label, in: rest.takeLeft(min(label.count, rest.size.columns / 2)), style: theme.detail)
        switch field {
        case .user: draw(user, isFocused: place == field, in: &surface, rest)
        case .secret: draw(secret, isFocused: place == field, in: &surface, rest)
        case .keeping:
            for keeping in SignInKeeping.allCases {
                let isChosen = keeping == self.keeping
                let text = isChosen ? "[\(Self.name(keeping))]" : " \(Self.name(keeping)) "
                let style = !isChosen ? theme.detail : place == field ? theme.selectedName : theme.name
                _ = rest.takeLeft(surface.write(text, in: rest, style: style))
                _ = rest.takeLeft(1)
            }
        }
    }

    private func draw(_ field: TextField, isFocused: Bool, in surface: inout Surface, _ frame: Rect) {
        let cursor = surface.cursor
        field.draw(in: &surface, frame)
        if !isFocused { surface.cursor = cursor }
    }

    private static func name(_ keeping: SignInKeeping) -> String {
        switch keeping {
        case .session: "until I quit"
        case .file: "in a file"
        case .keyring: "in the keyring"
        }
    }
}

extension String {
    /// Made visible, in pieces that fit.
    fileprivate func cut(toWidth width: Int) -> [String] {
        var lines = [""]
        for character in madeVisible {
            if lines[lines.count - 1].displayWidth + String(character).displayWidth > width { lines.append("") }
            lines[lines.count - 1].append(character)
        }
        return lines
    }
}
