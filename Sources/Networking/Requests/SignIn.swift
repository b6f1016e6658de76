import Cache
import HTTP
import Model
import Session

extension RequestContext {
    /// Notes that somebody wanted to know who asks, and was not satisfied.
    ///
    /// First it is seen whether there is an answer already: one that came meanwhile, or that an earlier run has kept. Only
    /// then the user is asked, unless the question is put off.
    ///
    /// - Parameter sent: what the server was told.
    func note(_ question: SignInQuestion?, afterSaying sent: SignIn?, in cache: GalleryCache) async {
        guard var question else { return }
        question.galleries = [cache.id]
        // What a proxy was told has been noted as refused where it was refused.
        let refused = question.isProxy ? nil : sent
        if await caches.credentials.hasOther(than: refused, for: question.place, in: cache.address) {
            activity.noteAnswer(for: cache.id)
        } else if !question.isDeferred {
            activity.ask(question)
        }
    }
}

extension HTTPRequest.Credentials {
    /// The same, as a transfer takes it.
    init(_ signIn: SignIn) {
        switch signIn {
        case .password(let user, let password): self.init(user: user, password: password)
        case .token(let token): self.init(bearer: token)
        }
    }
}

extension ProxyCredentials {
    /// What the user has answered when a proxy asked, or has had kept.
    public init(_ store: CredentialStore) {
        self.init(
            known: { store.signIn(forProxy: $0).map(HTTPRequest.Credentials.init) },
            onRefusal: { refused, proxy in
                store.noteRefusal(byProxy: proxy) { HTTPRequest.Credentials($0) == refused }
            })
    }
}
