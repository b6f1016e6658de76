import HTTP
import Model

extension HTTPRequest.Credentials {
    /// The same, as a transfer takes it.
    init(_ signIn: SignIn) {
        switch signIn {
        case .password(let user, let password): self.init(user: user, password: password)
        case .token(let token): self.init(bearer: token)
        }
    }
}
