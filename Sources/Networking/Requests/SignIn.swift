import Cache
import HTTP
import Model
import Session

extension RequestContext {
    /// Handles the refusal of a request that lacked valid credentials.
    ///
    /// Other credentials may be known by now, or an earlier run may have stored some. Without other credentials,
    /// Vitrine asks the user, unless the question is postponed.
    ///
    /// - Parameter sent: the refused credentials; nil if none were sent.
    func ask(_ question: SignInQuestion?, afterSaying sent: SignIn?, in cache: GalleryCache) async {
        guard var question else { return }
        question.galleries = [cache.id]
        // A gallery's list may name other servers. Their own sign-in pages could deceive the user.
        if !question.origin.isSame(as: cache.address) { question.browserServer = nil }
        // The transfer has already recorded a refusal by a proxy.
        let refused = question.isProxy ? nil : sent
        if await caches.credentials.hasOther(than: refused, for: question, in: cache.address) {
            activity.recordAnswer(for: cache.id)
        } else if !question.isDeferred {
            activity.ask(question)
        }
    }
}

extension HTTPRequest.Credentials {
    /// Converts stored credentials to the form for a transfer.
    init(_ signIn: SignIn) {
        switch signIn {
        case .password(let user, let password): self.init(user: user, password: password)
        case .token(let token): self.init(bearer: token)
        case .header(let name, let value): self.init(header: name, value: value)
        case .accessKey(let key):
            self.init(accessKey: key.id, secret: key.secret, sessionToken: key.sessionToken, region: key.region)
        }
    }
}

extension ProxyCredentials {
    /// Creates proxy credentials that look up the credentials in a store.
    public init(_ store: CredentialStore) {
        self.init(
            known: { store.signIn(forProxy: $0).map(HTTPRequest.Credentials.init) },
            onRefusal: { refused, proxy in
                store.recordRefusal(byProxy: proxy) { HTTPRequest.Credentials($0) == refused }
            })
    }
}

extension Origin {
    /// Whether this is the origin of an address, perhaps with `https` instead. Servers may redirect to that origin.
    func isSame(as address: Address) -> Bool {
        self == address.origin || address.origin?.isSecured(by: self) == true
    }
}

extension ListSource {
    /// The mark, in place of a date of the outermost folder.
    static let signedIn = "signed in"

    /// Returns stored folders with the mark that the server recognized the user.
    static func marked(_ folders: [Folder]) -> [Folder] {
        var root = folders.first { $0.path.isEmpty } ?? Folder(path: [], validators: Validators())
        root.validators.lastModified = signedIn
        return [root] + folders.filter { !$0.path.isEmpty }
    }

    /// Whether the server recognized the user in the last update of a library, or of a gallery file in a bucket.
    ///
    /// For a library, credentials for a web server in front of that server do not count. For a gallery file, only an
    /// access key counts.
    var wasSignedIn: Bool {
        folders.first { $0.path.isEmpty }?.validators.lastModified == Self.signedIn
    }
}
