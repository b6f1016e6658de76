import Model
import Synchronization

/// Credentials in memory, from typed addresses and sign-in answers. Databases and settings store none.
///
/// A gallery uses the credentials of its own origin. For another origin, where some of its pictures may lie, it uses
/// credentials only after the user entered them for this gallery: an untrusted list must not make Vitrine send
/// passwords. The same holds for netrc files: see ``isNamedByUser(_:in:)``. Proxies are the user's own choice and have
/// no such limit.
public final class CredentialStore: Sendable {
    private struct State {
        var known: [SignInPlace: SignIn] = [:]
        /// Galleries that may use the credentials of a foreign origin.
        var granted: [Origin: Set<GalleryID>] = [:]
        /// Credentials that were refused.
        var refused: [SignInPlace: Set<SignIn>] = [:]
        /// The user name that each server or proxy refused last.
        var refusedUsers: [SignInPlace: String] = [:]
        /// Lookups of stored passwords. There is one per server or proxy, shared by all callers.
        var lookUps: [SignInPlace: Task<SignIn?, Never>] = [:]

        func mayUse(_ origin: Origin, in gallery: Address) -> Bool {
            origin == gallery.origin || granted[origin]?.contains(GalleryID(gallery)) == true
        }

        func mayUse(_ place: SignInPlace, in gallery: Address) -> Bool {
            if case .origin(let origin) = place { mayUse(origin, in: gallery) } else { true }
        }

        mutating func remove(refused signIn: SignIn, by place: SignInPlace) {
            refused[place, default: []].insert(signIn)
            if case .password(let user, _) = signIn { refusedUsers[place] = user }
            if known[place] == signIn { known[place] = nil }
        }
    }

    private let state = Mutex(State())
    private let keeping: CredentialKeeping?

    /// Makes an empty store.
    ///
    /// - Parameter keeping: stores passwords between runs.
    public init(keeping: CredentialKeeping? = nil) {
        self.keeping = keeping
    }

    /// Adds credentials that the user entered for some galleries.
    public func take(_ signIn: SignIn, for place: SignInPlace, by galleries: Set<GalleryID> = []) {
        state.withLock { state in
            state.known[place] = signIn
            state.refused[place]?.remove(signIn)
            if case .origin(let origin) = place { state.granted[origin, default: []].formUnion(galleries) }
        }
    }

    /// Stores credentials beyond this run. Returns a sentence if that fails.
    public func keep(_ signIn: SignIn, for place: SignInPlace, _ where: SignInKeeping) async -> String? {
        guard `where` != .session, let keeping else { return nil }
        return await keeping.keep(signIn, place, `where`)
    }

    /// The credentials for an address on behalf of a gallery; nil if unknown or not permitted.
    public func signIn(for address: Address, in gallery: Address) -> SignIn? {
        guard let origin = address.origin else { return nil }
        return state.withLock { $0.mayUse(origin, in: gallery) ? $0.known[.origin(origin)] : nil }
    }

    /// The credentials for a proxy; nil if unknown.
    ///
    /// - Parameter proxy: its scheme, host and port.
    public func signIn(forProxy proxy: String) -> SignIn? {
        state.withLock { $0.known[.proxy(proxy)] }
    }

    /// Removes credentials that a proxy refused.
    ///
    /// - Parameter isRefused: compares the known credentials with the refused ones. The user may have entered others
    ///   meanwhile.
    public func recordRefusal(byProxy proxy: String, _ isRefused: (SignIn) -> Bool) {
        state.withLock { state in
            guard let known = state.known[.proxy(proxy)], isRefused(known) else { return }
            state.remove(refused: known, by: .proxy(proxy))
        }
    }

    /// The user name that was refused last; nil if none was in this run.
    public func refusedUser(at place: SignInPlace) -> String? {
        state.withLock { $0.refusedUsers[place] }
    }

    /// Whether the user has named an origin, or signed in to it for the gallery.
    ///
    /// `https` at the gallery's host counts too: users leave out the scheme, and servers redirect there.
    public func isNamedByUser(_ origin: Origin, in gallery: Address) -> Bool {
        if origin.scheme == .https, origin.host == gallery.host { return true }
        return state.withLock { $0.mayUse(origin, in: gallery) }
    }

    /// Whether a retry is worthwhile after a refusal: other credentials are known now or were stored earlier.
    ///
    /// - Parameters:
    ///   - sent: the refused credentials, which are removed; nil if that has happened.
    ///   - place: the server or proxy that refused them.
    ///   - gallery: the gallery on whose behalf they were sent.
    public func hasOther(than sent: SignIn?, for place: SignInPlace, in gallery: Address) async -> Bool {
        let isKnown = state.withLock { state in
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

    /// Looks up stored passwords again at their next use.
    public func retry() {
        state.withLock { $0.lookUps = [:] }
    }

    /// Stored passwords of foreign origins are not sent because a list names them.
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

/// Functions that store credentials between runs. They may be slow and run outside of the main actor.
public struct CredentialKeeping: Sendable {
    /// Finds stored credentials; nil if there are none.
    let lookUp: @Sendable (SignInPlace) async -> SignIn?
    /// Stores credentials. Returns a sentence if that fails.
    let keep: @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?

    /// Makes the pair of functions.
    public init(
        lookUp: @escaping @Sendable (SignInPlace) async -> SignIn?,
        keep: @escaping @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?
    ) {
        self.lookUp = lookUp
        self.keep = keep
    }
}
