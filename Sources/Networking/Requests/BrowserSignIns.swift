import Cache
import Formats
import HTTP
import Model
import Numbers
import Session

/// Signs in to Nextcloud servers with the user's browser (Login Flow v2).
///
/// The server names a page for the browser. Vitrine asks the server every two seconds whether the user has signed in
/// there, and then receives a password that the server made for Vitrine. A wish starts the sign-in. When the wish ends,
/// the sign-in ends at once.
///
/// Vitrine trusts only the origin that asked for the sign-in. The page, the address for the result and the password
/// must belong to this origin.
public struct BrowserSignIns: Sendable {
    private let wishes: Wishes
    private let context: RequestContext
    private let client: HTTPClient
    private let clock: any NetworkClock

    /// The time between two requests for the result.
    static let interval = Duration.seconds(2)
    /// The longest time between two requests to a busy server.
    static let longestInterval = Duration.seconds(60)
    /// The time after which the server forgets the sign-in.
    static let lifetime = Duration.seconds(20 * 60)
    /// The maximum number of bytes of an answer. The answers have about 500 bytes.
    private static let limit: ByteCount = 1 << 14

    /// Creates the object, which does nothing before ``run()``.
    public init(
        wishes: Wishes, context: RequestContext, client: HTTPClient, clock: any NetworkClock = MachineClock()
    ) {
        (self.wishes, self.context, self.client, self.clock) = (wishes, context, client, clock)
    }

    /// Serves wishes for sign-ins until the task is cancelled.
    public func run() async {
        var current: Task<Void, Never>?
        for await wish in wishes.browserSignIns() {
            current?.cancel()
            current = wish.signIn.map { signIn in Task { await perform(signIn) } }
        }
        current?.cancel()
    }

    /// Performs a sign-in, and reports its stages.
    private func perform(_ signIn: BrowserSignIn) async {
        do {
            let (page, question) = try await begin(signIn)
            context.activity.setStage(.waiting(page), of: signIn)
            context.activity.setStage(.granted(try await answer(to: question, of: signIn)), of: signIn)
        } catch {
            guard !Task.isCancelled else { return }
            let failure = RequestError(error).failure
            context.log.info(.network, "\(signIn.server): sign-in with the browser: \(failure.reason)")
            context.activity.setStage(.failed(failure), of: signIn)
        }
    }

    /// Asks the server for a page. Returns the address of the page, and the request for the result.
    private func begin(_ signIn: BrowserSignIn) async throws -> (page: Address, question: FetchPlan) {
        let plan = try plan(for: signIn.server.resolving("index.php/login/v2"), of: signIn)
        let bytes: [UInt8]
        do {
            var response = try await Response.to(plan, over: client, with: TransferPermit(.lookedAt))
            bytes = try await response.allBytes()
        } catch RequestError.status(let status, _) where [400, 403, 404, 405, 501].contains(status) {
            throw Self.unsupported
        }
        guard let flow = LoginFlow(json: bytes) else { throw Self.unsupported }
        let page = try Self.own(flow.login, at: signIn.server)
        var question = try self.plan(for: Self.own(flow.endpoint, at: signIn.server), of: signIn)
        question.headers = [("Content-Type", "application/x-www-form-urlencoded")]
        question.body = Array(("token=" + PercentEncoding.encodeAll(flow.token.utf8, except: "")).utf8)
        return (page, question)
    }

    /// Asks the server for the result until the user has signed in.
    private func answer(to question: FetchPlan, of signIn: BrowserSignIn) async throws -> SignIn {
        let end = clock.now + Self.lifetime
        var pause = Self.interval
        while true {
            try await clock.sleep(until: min(clock.now + pause, end))
            guard clock.now < end else {
                throw RequestError.browserSignIn("you did not sign in within 20 minutes")
            }
            pause = Self.interval
            do {
                var response = try await Response.to(question, over: client, with: TransferPermit(.lookedAt))
                return try Self.signIn(try await response.allBytes(), at: signIn.server)
            } catch RequestError.status(404, _) {
                // The user has not signed in yet.
            } catch {
                try Task.checkCancellation()
                let error = RequestError(error)
                guard error.failure.isTemporary else { throw error }
                pause = min(max(.seconds(error.retryAfter ?? 0), Self.interval), Self.longestInterval)
            }
        }
    }

    private static func signIn(_ bytes: [UInt8], at server: Address) throws -> SignIn {
        guard let grant = LoginGrant(json: bytes) else {
            throw RequestError.browserSignIn("the server’s answer has no password")
        }
        _ = try own(grant.server, at: server)
        return .password(user: grant.loginName, password: grant.appPassword)
    }

    /// Returns the plan of a request without credentials. A stored password could be wrong, and the server counts wrong
    /// passwords.
    private func plan(for address: Address, of signIn: BrowserSignIn) throws -> FetchPlan {
        let galleries = signIn.galleries.lazy.compactMap { context.caches.cache($0) }
        guard let cache = galleries.first(where: { $0.address.host == address.host }) else { throw Self.unsupported }
        var plan = FetchPlan(
            address: address, method: .post, headers: [("Accept", "application/json")], limit: Self.limit,
            addressPolicy: cache.listAddressPolicy)
        plan.publicity = Publicity(of: cache.address, wasPublic: try cache.read { try $0.gallery() }.wasPublic)
        return plan
    }

    private static let unsupported = RequestError.browserSignIn("the server offers no sign-in with the browser")

    /// Returns an address that the server named, at the server's own origin. Throws if the address has another origin.
    ///
    /// A server behind a proxy may name http addresses, because it does not know that users reach it by https. Vitrine
    /// then uses https, and never the http address.
    static func own(_ text: String, at server: Address) throws -> Address {
        guard let address = try? Address(text), address.credentials == nil, let named = address.origin else {
            throw RequestError.browserSignIn("the server named an unusable address")
        }
        if named == server.origin { return address }
        let isDowngrade =
            server.scheme == .https && named.scheme == .http && named.host == server.host
            && (named.port == nil || named.port == server.port)
        let rest = address.path + (address.query.map { "?" + $0 } ?? "")
        guard isDowngrade, !rest.hasPrefix("//"), let kept = try? server.resolving(rest), kept.origin == server.origin
        else {
            throw RequestError.browserSignIn(
                "the server named an address at \(named), which Vitrine refuses because you opened "
                    + "\(server.origin.map(\.description) ?? "another server")")
        }
        return kept
    }
}
