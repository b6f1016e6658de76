import Cache
import Session
import HTTP

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
