import Model

/// How what is kept is written: a user and a password with a tab between them, each percent-encoded; a token alone.
struct SecretText {
    let text: String

    init(_ signIn: SignIn) {
        text =
            switch signIn {
            case .password(let user, let password): Self.encode(user) + "\t" + Self.encode(password)
            case .token(let token): Self.encode(token)
            }
    }

    init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    /// What is written; nil if it is anything else.
    var signIn: SignIn? {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map {
            PercentEncoding.decode(String($0))
        }
        switch fields.count {
        case 1: return fields[0].isEmpty ? nil : .token(fields[0])
        case 2: return .password(user: fields[0], password: fields[1])
        default: return nil
        }
    }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text, keepingEscapes: false)
    }
}

extension SignInPlace {
    /// What it is called where passwords are kept.
    var name: String {
        switch self {
        case .origin(let origin): origin.text
        case .proxy(let proxy): "proxy " + proxy
        }
    }
}
