import Concurrency
import Model
import Synchronization

/// Holds credentials in memory, from typed addresses and from the user's answers. Databases and settings contain no
/// credentials.
///
/// A gallery uses the credentials of its own origin, and of the same origin with `https` instead of `http`. Some of its
/// pictures may be on another origin. There, the gallery uses credentials only after the user entered them for this
/// gallery, because an untrusted list must not make Vitrine send passwords. The same rule holds for netrc files: see
/// ``isNamedByUser(_:in:)``. Proxies are the user's own choice, so the rule does not apply to proxies.
public final class CredentialStore: Sendable {
    fileprivate struct State {
        var known: [SignInPlace: SignIn] = [:]
        /// For each origin, the galleries on other origins that may use its credentials.
        var granted: [Origin: Set<GalleryID>] = [:]
        /// The credentials that each server or proxy has refused.
        var refused: [SignInPlace: Set<SignIn>] = [:]
        /// The user name that each server or proxy refused last.
        var refusedUsers: [SignInPlace: String] = [:]
        /// The refusals that the listeners do not know yet.
        var unsent = RefusedCredentials()
        /// The right region of each storage service that refused another region.
        var regions: [Origin: String] = [:]
        /// The running lookups of stored passwords. All callers share one lookup per server or proxy.
        var lookUps: [SignInPlace: Task<SignIn?, Never>] = [:]
        /// The running lookups of access keys. All callers share one lookup per storage service.
        var keyLookUps: [Origin: Task<[AccessKey], Never>] = [:]

        func mayUse(_ origin: Origin, in gallery: Address) -> Bool {
            CredentialStore.isOwn(origin, of: gallery) || gallery.origin?.isTwin(of: origin) == true
                || granted[origin]?.contains(GalleryID(gallery)) == true
        }

        func mayUse(_ place: SignInPlace, in gallery: Address) -> Bool {
            if case .origin(let origin) = place { mayUse(origin, in: gallery) } else { true }
        }

        func galleries(for place: SignInPlace) -> Set<GalleryID> {
            if case .origin(let origin) = place { granted[origin] ?? [] } else { [] }
        }

        mutating func remove(refused signIn: SignIn, by place: SignInPlace) {
            if let user = signIn.user { refusedUsers[place] = user }
            if known[place] == signIn { known[place] = nil }
            guard refused[place, default: []].insert(signIn).inserted else { return }
            unsent.merge(RefusedCredentials(refusals: [place: .init(user: signIn.user, digests: [signIn.digest])]))
        }
    }

    private let state = Mutex(State())
    private let keeping: CredentialKeeping?
    private let entered = Subscribers<EnteredCredentials>()
    private let refusals = Subscribers<RefusedCredentials>()

    /// Creates an empty store.
    ///
    /// - Parameter keeping: functions that store passwords between runs; nil to store none.
    public init(keeping: CredentialKeeping? = nil) {
        self.keeping = keeping
    }

    /// Adds credentials that the user entered for some galleries.
    public func take(_ signIn: SignIn, for place: SignInPlace, by galleries: Set<GalleryID> = []) {
        state.withLock { state in
            state.known[place] = signIn
            state.refused[place] = state.refused[place]?.filter { $0.digest != signIn.digest }
            if case .origin(let origin) = place { state.granted[origin, default: []].formUnion(galleries) }
            entered.send(EnteredCredentials(entries: [place: .init(signIn: signIn, galleries: galleries)]))
        }
    }

    /// Calls `body` with known and later credentials until the result is released. ``take(_:for:by:)`` returns only
    /// after `body` has returned.
    public func relayEntered(_ body: @escaping @Sendable (EnteredCredentials) -> Void) -> Relay<EnteredCredentials> {
        state.withLock { state in
            let entries = state.known.map { place, signIn in
                (place, EnteredCredentials.Entry(signIn: signIn, galleries: state.galleries(for: place)))
            }
            let known = EnteredCredentials(entries: Dictionary(entries) { first, _ in first })
            return entered.relay(beginningWith: known, body)
        }
    }

    /// Returns the known credentials that a gallery may use. They are for another process that works for the gallery.
    public func credentials(for gallery: Address) -> EnteredCredentials {
        state.withLock { state in
            let entries = state.known.filter { state.mayUse($0.key, in: gallery) }.mapValues {
                EnteredCredentials.Entry(signIn: $0, galleries: [GalleryID(gallery)])
            }
            return EnteredCredentials(entries: entries)
        }
    }

    /// Calls `body` with new refusals until the result is released.
    public func relayRefusals(
        _ body: @escaping @Sendable (RefusedCredentials) -> Void
    ) -> Relay<RefusedCredentials> {
        refusals.relay(body)
    }

    /// Records refusals from another process, and removes the refused credentials. Keeps credentials that the user has
    /// entered since.
    public func adopt(_ refused: RefusedCredentials) {
        state.withLock { state in
            for (place, refusal) in refused.refusals {
                if let user = refusal.user { state.refusedUsers[place] = user }
                if let known = state.known[place], refusal.digests.contains(known.digest) { state.known[place] = nil }
            }
        }
    }

    /// Stores credentials beyond this run. Returns an error message if that fails.
    public func keep(_ signIn: SignIn, for place: SignInPlace, _ where: SignInKeeping) async -> String? {
        guard `where` != .session, let keeping else { return nil }
        return await keeping.keep(signIn, place, `where`)
    }

    /// Returns the credentials for an address on behalf of a gallery. Returns nil if they are unknown or not permitted.
    public func signIn(for address: Address, in gallery: Address) -> SignIn? {
        guard let origin = address.origin else { return nil }
        return state.withLock { $0.mayUse(origin, in: gallery) ? $0.known[.origin(origin)] : nil }
    }

    /// Returns the credentials for a proxy. Returns nil if they are unknown.
    ///
    /// - Parameter proxy: the scheme, host and port of the proxy.
    public func signIn(forProxy proxy: String) -> SignIn? {
        state.withLock { $0.known[.proxy(proxy)] }
    }

    /// Removes credentials that a proxy refused.
    ///
    /// - Parameter isRefused: compares the known credentials with the refused ones. The user may have entered other
    ///   credentials meanwhile.
    public func recordRefusal(byProxy proxy: String, _ isRefused: (SignIn) -> Bool) {
        change { state in
            guard let known = state.known[.proxy(proxy)], isRefused(known) else { return }
            state.remove(refused: known, by: .proxy(proxy))
        }
    }

    /// Returns the user name that a server or proxy refused last. Returns nil if no user was refused in this run.
    public func refusedUser(at place: SignInPlace) -> String? {
        state.withLock { $0.refusedUsers[place] }
    }

    /// Returns whether the user has named an origin for a gallery.
    ///
    /// The user has named the origin of the gallery's address, and each origin to which the user signed in for the
    /// gallery. `https` at the gallery's host counts too, because users leave out the scheme, and servers redirect to
    /// `https`.
    public func isNamedByUser(_ origin: Origin, in gallery: Address) -> Bool {
        if origin.scheme == .https, origin.host == gallery.host { return true }
        return state.withLock { $0.mayUse(origin, in: gallery) }
    }

    /// Returns whether a retry is useful after a refusal. Other credentials may be known now, or stored.
    ///
    /// - Parameters:
    ///   - sent: the refused credentials, which this call removes; nil if they are already removed.
    ///   - place: the server or proxy that refused the credentials.
    ///   - gallery: the gallery on whose behalf Vitrine sent the credentials.
    public func hasOther(than sent: SignIn?, for place: SignInPlace, in gallery: Address) async -> Bool {
        let isKnown = change { state in
            if let sent { state.remove(refused: sent, by: place) }
            return state.mayUse(place, in: gallery) && state.known[place] != nil
        }
        if isKnown { return true }
        guard Self.isLookedUp(place, by: gallery), let kept = await lookUp(place) else { return false }
        return state.withLock { state in
            guard state.refused[place]?.contains(kept) != true else { return false }
            state.known[place] = kept
            return true
        }
    }

    /// Returns whether a retry after a storage service's refusal is useful.
    ///
    /// A retry is useful if the service named another region, or if there is a key that the service has not refused.
    /// The method looks for keys in the environment, then in the user's files, and then among stored passwords.
    public func hasOther(than sent: SignIn?, for question: SignInQuestion, in gallery: Address) async -> Bool {
        guard question.wantsAccessKey, case .origin(let origin) = question.place else {
            return await hasOther(than: sent, for: question.place, in: gallery)
        }
        let isKnown = change { state -> Bool in
            guard state.mayUse(origin, in: gallery) else { return false }
            return state.adapt(sent, to: question, at: origin)
        }
        if isKnown { return true }
        guard let keeping, origin == gallery.origin || gallery.origin?.isTwin(of: origin) == true else { return false }
        var keys = await lookUpKeys(origin, keeping)
        if case .accessKey(let key) = await lookUp(question.place) { keys.append(key) }
        return state.withLock { state in
            let region = state.regions[origin] ?? question.region
            let keys = keys.map { SignIn.accessKey(region == nil ? $0 : $0.with(region: region)) }
            guard let key = keys.first(where: { !state.hasRefused($0, question.place) }) else { return false }
            state.known[question.place] = key
            return true
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            if !state.unsent.refusals.isEmpty {
                refusals.send(state.unsent)
                state.unsent = RefusedCredentials()
            }
            return result
        }
    }

    /// Makes later requests look up stored passwords again.
    public func retry() {
        state.withLock { $0.lookUps = [:] }
    }

    /// Returns whether a gallery's requests may look up a stored password. A list may name other origins, but that is
    /// no reason to send stored passwords there.
    private static func isLookedUp(_ place: SignInPlace, by gallery: Address) -> Bool {
        if case .origin(let origin) = place { isOwn(origin, of: gallery) } else { true }
    }

    /// Whether an origin is a gallery's own, perhaps with `https` instead of `http`.
    private static func isOwn(_ origin: Origin, of gallery: Address) -> Bool {
        origin == gallery.origin || gallery.origin?.isSecured(by: origin) == true
    }

    /// Returns the user's access keys for a storage service. Each refusal reads the files anew, because other programs
    /// replace keys that expire.
    private func lookUpKeys(_ origin: Origin, _ keeping: CredentialKeeping) async -> [AccessKey] {
        let task = state.withLock { state in
            let task = state.keyLookUps[origin] ?? Task { await keeping.accessKeys(origin) }
            state.keyLookUps[origin] = task
            return task
        }
        let keys = await task.value
        state.withLock { if $0.keyLookUps[origin] == task { $0.keyLookUps[origin] = nil } }
        return keys
    }

    private func lookUp(_ place: SignInPlace) async -> SignIn? {
        guard let keeping else { return nil }
        let task = state.withLock { state in
            let task = state.lookUps[place] ?? Task { await keeping.lookUp(place) }
            state.lookUps[place] = task
            return task
        }
        return await task.value
    }
}

extension CredentialStore.State {
    /// Drops a refused key. Returns whether another key, or the same key with another region, is known now.
    fileprivate mutating func adapt(_ sent: SignIn?, to question: SignInQuestion, at origin: Origin) -> Bool {
        let place = question.place
        if let region = question.region, case .accessKey(let key) = sent, key.region != region,
            regions[origin] == nil
        {
            // Change the region only once, because a server must not make Vitrine repeat a request forever.
            regions[origin] = region
            if known[place] == sent { known[place] = .accessKey(key.with(region: region)) }
            return known[place] != nil
        }
        switch known[place] {
        case .password(let user, let password) where question.isOfBucket:
            // The gallery's address contained the key as user and password.
            known[place] = .accessKey(
                AccessKey(id: user, secret: password, region: regions[origin] ?? question.region))
            return true
        case .password?, .token?, .header?, nil: return false
        case .accessKey?:
            if let sent { remove(refused: sent, by: place) }
            return known[place] != nil
        }
    }

    /// Returns whether a server has refused a key, with any region.
    fileprivate func hasRefused(_ signIn: SignIn, _ place: SignInPlace) -> Bool {
        guard case .accessKey(let key) = signIn else { return false }
        return refused[place]?.contains { other in
            if case .accessKey(let other) = other { other.with(region: key.region) == key } else { false }
        } == true
    }
}

/// Functions that store credentials between runs. The functions may be slow and run off the main actor.
public struct CredentialKeeping: Sendable {
    /// Returns stored credentials. Returns nil if there are none.
    public let lookUp: @Sendable (SignInPlace) async -> SignIn?
    /// Stores credentials. Returns an error message if that fails.
    let keep: @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?
    /// Returns the user's access keys for a storage service. The most important key comes first.
    public let accessKeys: @Sendable (Origin) async -> [AccessKey]

    /// Creates the functions.
    public init(
        lookUp: @escaping @Sendable (SignInPlace) async -> SignIn?,
        keep: @escaping @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?,
        accessKeys: @escaping @Sendable (Origin) async -> [AccessKey] = { _ in [] }
    ) {
        self.accessKeys = accessKeys
        self.lookUp = lookUp
        self.keep = keep
    }
}

extension SignIn {
    /// The user's name, or the public part of an access key; nil for tokens and headers.
    fileprivate var user: String? {
        switch self {
        case .password(let user, _): user
        case .accessKey(let key): key.id
        case .token, .header: nil
        }
    }

    /// A hash of the name and the secret. A password has the hash of the access key that Vitrine makes from it.
    fileprivate var digest: UInt64 {
        let words: (name: String, secret: String) =
            switch self {
            case .password(let user, let password): (user, password)
            case .token(let token): ("", token)
            case .header(let name, let value): (name, value)
            case .accessKey(let key): (key.id, key.secret)
            }
        return UInt64(hashing: Array(words.name.utf8) + [0] + Array(words.secret.utf8))
    }
}

/// Credentials that the user has entered, for another process that sends them.
public struct EnteredCredentials: Coalescing, Equatable {
    /// The credentials for a server or proxy.
    public struct Entry: Hashable, Sendable {
        /// The credentials.
        public var signIn: SignIn
        /// The galleries on other servers that may use the credentials.
        public var galleries: Set<GalleryID>

        /// Creates an entry.
        public init(signIn: SignIn, galleries: Set<GalleryID>) {
            (self.signIn, self.galleries) = (signIn, galleries)
        }
    }

    /// The credentials of each server and proxy.
    public var entries: [SignInPlace: Entry]

    /// Creates a set of credentials.
    public init(entries: [SignInPlace: Entry]) {
        self.entries = entries
    }

    /// Adds later credentials, which replace earlier ones of the same server or proxy.
    public mutating func merge(_ later: EnteredCredentials) {
        entries.merge(later.entries) { earlier, later in
            Entry(signIn: later.signIn, galleries: earlier.galleries.union(later.galleries))
        }
    }
}

/// The credentials that servers and proxies have refused, for the process that knows them.
public struct RefusedCredentials: Coalescing, Equatable {
    /// The refused credentials of a server or proxy.
    public struct Refusal: Hashable, Sendable {
        /// The user who was refused last; nil if only tokens were refused.
        public var user: String?
        /// The hashes of the credentials, so that no message repeats a password.
        public var digests: Set<UInt64>

        /// Creates a refusal.
        public init(user: String?, digests: Set<UInt64>) {
            (self.user, self.digests) = (user, digests)
        }
    }

    /// The refusals of each server and proxy.
    public var refusals: [SignInPlace: Refusal]

    /// Creates a set of refusals.
    public init(refusals: [SignInPlace: Refusal] = [:]) {
        self.refusals = refusals
    }

    /// Adds later refusals.
    public mutating func merge(_ later: RefusedCredentials) {
        refusals.merge(later.refusals) { earlier, later in
            Refusal(user: later.user ?? earlier.user, digests: earlier.digests.union(later.digests))
        }
    }
}

/// The questions for credentials that wait for the user.
struct QuestionList {
    /// The open questions, the oldest first.
    private(set) var open: [SignInQuestion] = []
    /// The servers and proxies whose questions the user declined. The values are the galleries whose requests caused a
    /// question.
    private var declined: [SignInPlace: Set<GalleryID>] = [:]

    /// Adds a question, or extends the open question of the same server or proxy. Ignores a question that the user
    /// declined.
    mutating func ask(_ question: SignInQuestion) {
        if let galleries = declined[question.place] {
            declined[question.place] = galleries.union(question.galleries)
        } else if let index = open.firstIndex(where: { $0.place == question.place }) {
            var question = question
            question.galleries.formUnion(open[index].galleries)
            question.browserServer = question.browserServer ?? open[index].browserServer
            open[index] = question
        } else {
            open.append(question)
        }
    }

    /// Withdraws a question that was answered or is no longer needed.
    mutating func withdraw(_ place: SignInPlace) {
        open.removeAll { $0.place == place }
    }

    /// Declines a question until the next ``retry(_:)`` of its gallery.
    mutating func decline(_ place: SignInPlace) {
        for question in open where question.place == place {
            declined[place, default: []].formUnion(question.galleries)
        }
        withdraw(place)
    }

    /// Allows the declined questions of a gallery again.
    mutating func retry(_ gallery: GalleryID) {
        declined = declined.filter { !$0.value.contains(gallery) }
    }

    /// Removes the open questions and returns them.
    mutating func takeAll() -> [SignInQuestion] {
        defer { open = [] }
        return open
    }
}
