import Model
import Synchronization

/// Who asks for what, in memory for as long as the program runs: what stood in addresses that the user typed, and what he
/// answered when he was asked. The database and the list of galleries hold addresses without.
///
/// A password is for one origin. A gallery uses that of its own origin; that of another, where some of its pictures may lie,
/// only after the user was asked for it on behalf of this gallery: what a stranger's list names is fetched as nobody. The same
/// holds for what others know of passwords, as a netrc file: see ``isNamedByUser(_:in:)``. A proxy is on the user's own word,
/// whatever is asked for through it.
public final class CredentialStore: Sendable {
    private struct State {
        var known: [SignInPlace: SignIn] = [:]
        /// Galleries that may use what is known of an origin that is not their own.
        var granted: [Origin: Set<GalleryID>] = [:]
        /// What was said in vain.
        var refused: [SignInPlace: Set<SignIn>] = [:]
        /// The user of what each place refused last.
        var refusedUsers: [SignInPlace: String] = [:]
        /// Each place is looked up once, whoever needs it, and however many do at the same time.
        var lookUps: [SignInPlace: Task<SignIn?, Never>] = [:]

        func mayUse(_ origin: Origin, in gallery: Address) -> Bool {
            origin == gallery.origin || granted[origin]?.contains(GalleryID(gallery)) == true
        }

        func mayUse(_ place: SignInPlace, in gallery: Address) -> Bool {
            if case .origin(let origin) = place { mayUse(origin, in: gallery) } else { true }
        }

        mutating func note(refused signIn: SignIn, by place: SignInPlace) {
            refused[place, default: []].insert(signIn)
            if case .password(let user, _) = signIn { refusedUsers[place] = user }
            if known[place] == signIn { known[place] = nil }
        }
    }

    private let state = Mutex(State())
    private let keeping: CredentialKeeping?

    /// Makes an empty store.
    ///
    /// - Parameter keeping: how passwords are kept between runs, if they are.
    public init(keeping: CredentialKeeping? = nil) {
        self.keeping = keeping
    }

    /// Takes what the user said, on behalf of galleries.
    public func take(_ signIn: SignIn, for place: SignInPlace, by galleries: Set<GalleryID> = []) {
        state.withLock { state in
            state.known[place] = signIn
            state.refused[place]?.remove(signIn)
            if case .origin(let origin) = place { state.granted[origin, default: []].formUnion(galleries) }
        }
    }

    /// Keeps what the user said beyond this run. Returns why that cannot be done, a sentence.
    public func keep(_ signIn: SignIn, for place: SignInPlace, _ where: SignInKeeping) async -> String? {
        guard `where` != .session, let keeping else { return nil }
        return await keeping.keep(signIn, place, `where`)
    }

    /// Who asks for an address on behalf of a gallery; nil if that is not known, or none of the address's business.
    public func signIn(for address: Address, in gallery: Address) -> SignIn? {
        guard let origin = address.origin else { return nil }
        return state.withLock { $0.mayUse(origin, in: gallery) ? $0.known[.origin(origin)] : nil }
    }

    /// Who asks a proxy; nil if that is not known.
    ///
    /// - Parameter proxy: its scheme, host and port.
    public func signIn(forProxy proxy: String) -> SignIn? {
        state.withLock { $0.known[.proxy(proxy)] }
    }

    /// Forgets what a proxy has refused.
    ///
    /// - Parameter isRefused: whether it is what is known that was refused. Another answer may have come meanwhile.
    public func noteRefusal(byProxy proxy: String, _ isRefused: (SignIn) -> Bool) {
        state.withLock { state in
            guard let known = state.known[.proxy(proxy)], isRefused(known) else { return }
            state.note(refused: known, by: .proxy(proxy))
        }
    }

    /// The user's name that a place refused last, with its password; nil if it has refused none in this run.
    public func refusedUser(at place: SignInPlace) -> String? {
        state.withLock { $0.refusedUsers[place] }
    }

    /// Whether the user has named an origin himself: as the gallery's, or by what he answered on the gallery's behalf. The
    /// gallery's host as it proves to be itself is the one that he meant, too: `http://` is what he need not type, and servers
    /// lead on from there.
    public func isNamedByUser(_ origin: Origin, in gallery: Address) -> Bool {
        if origin.scheme == .https, origin.host == gallery.host { return true }
        return state.withLock { $0.mayUse(origin, in: gallery) }
    }

    /// Whether another attempt is worth while after one that was refused: something else is known by now, or was kept by
    /// an earlier run. What was refused is forgotten.
    ///
    /// - Parameters:
    ///   - place: who refused it.
    ///   - sent: what it was told; nil where that has been noted.
    ///   - gallery: on whose behalf.
    public func hasOther(than sent: SignIn?, for place: SignInPlace, in gallery: Address) async -> Bool {
        let isKnown = state.withLock { state in
            if let sent { state.note(refused: sent, by: place) }
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

    /// Looks up stored passwords again at their next use.
    public func retry() {
        state.withLock { $0.lookUps = [:] }
    }

    /// What was kept for another origin than the gallery's own is not sent there on a stranger's word.
    private static func isLookedUp(_ place: SignInPlace, by gallery: Address) -> Bool {
        if case .origin(let origin) = place { origin == gallery.origin } else { true }
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

/// What can be done to remember who asks beyond this run of the program. Both may take their time; neither is done on the
/// main actor.
public struct CredentialKeeping: Sendable {
    /// Looks for what was kept; nil if there is nothing.
    let lookUp: @Sendable (SignInPlace) async -> SignIn?
    /// Keeps something. Returns why it cannot, a sentence.
    let keep: @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?

    /// States how it is done.
    public init(
        lookUp: @escaping @Sendable (SignInPlace) async -> SignIn?,
        keep: @escaping @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?
    ) {
        self.lookUp = lookUp
        self.keep = keep
    }
}
