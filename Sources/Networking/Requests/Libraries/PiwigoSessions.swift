import Cache
import Concurrency
import Formats
import HTTP
import Model
import Numbers

/// The sessions of Piwigo users who signed in with name and password.
///
/// Vitrine sends the password once for each session. The other requests carry the session's cookie, which is kept only
/// in memory.
actor PiwigoSessions {
    /// A session with a number that grows with each sign-in.
    struct Session: Hashable, Sendable {
        /// The cookie. It is empty if the password is not for Piwigo, but for the web server in front of it.
        let cookie: String
        let number: Int
    }

    /// A user of a server.
    private struct Key: Hashable {
        let server: Address
        let signIn: SignIn?
    }

    /// A sign-in, running or done.
    private struct Entry {
        let number: Int
        let task: SharedTask<String>
    }

    private var entries: [Key: Entry] = [:]
    private var count = 0

    /// The maximum number of bytes of the answers.
    private static let limit: ByteCount = 1 << 16

    /// Returns the user's session, which the server may have ended. Signs in if there is none.
    ///
    /// - Parameters:
    ///   - plan: the plan of a request that needs the session. Its credentials open the session.
    ///   - ended: the number of a session that the server has ended; nil for none.
    func session(
        for plan: FetchPlan, at server: Address, after ended: Int? = nil, over client: HTTPClient
    ) async throws -> Session {
        let key = Key(server: server, signIn: plan.signIn)
        let entry: Entry
        // Many requests need the session at the same time, so they share one sign-in.
        if let known = entries[key], known.number != ended {
            entry = known
        } else {
            count += 1
            let number = count
            let task = SharedTask<String> {
                do {
                    return try await Self.signIn(plan, at: server, over: client)
                } catch {
                    await self.forget(number, of: key)
                    throw error
                }
            }
            entry = Entry(number: number, task: task)
            entries[key] = entry
        }
        return Session(cookie: try await entry.task.value, number: entry.number)
    }

    /// Forgets a failed sign-in, also if all requests that awaited it were cancelled.
    private func forget(_ number: Int, of key: Key) {
        if entries[key]?.number == number { entries[key] = nil }
    }

    /// Whether no sign-in is running or done. Tests read this.
    var isEmpty: Bool { entries.isEmpty }

    /// Returns a session that the server has not ended.
    func openSession(for plan: FetchPlan, at server: Address, over client: HTTPClient) async throws -> Session {
        let isKnown = entries[Key(server: server, signIn: plan.signIn)] != nil
        let session = try await session(for: plan, at: server, over: client)
        guard isKnown, try await !Self.isOpen(session, for: plan, at: server, over: client) else { return session }
        return try await self.session(for: plan, at: server, after: session.number, over: client)
    }

    /// Returns whether a session is still open. After its end, the server treats the user as a guest.
    static func isOpen(
        _ session: Session, for plan: FetchPlan, at server: Address, over client: HTTPClient
    ) async throws -> Bool {
        guard !session.cookie.isEmpty else { return true }
        var request = try PiwigoSessions.request("pwg.session.getStatus", for: plan, at: server)
        request.headers.append(("Cookie", session.cookie))
        let (text, _) = try await answer(to: request, at: server, over: client)
        guard text.contains(isAccepted) else { throw RequestError.wrongType("an answer that is not Piwigo’s") }
        return !text.contains(/"status"\s*:\s*"guest"/)
    }

    /// Signs in. Returns the session's cookie. The cookie is empty if the password is for the web server in front of
    /// Piwigo.
    private static func signIn(_ plan: FetchPlan, at server: Address, over client: HTTPClient) async throws -> String {
        guard case .password(let user, let password)? = plan.signIn else { return "" }
        var request = try request("pwg.session.login", for: plan, at: server)
        let fields = [("method", "pwg.session.login"), ("username", user), ("password", password)]
        request.method = .post
        request.headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        request.body = Array(
            fields.map { "\($0)=\(PercentEncoding.encodeAll($1.utf8, except: ""))" }.joined(separator: "&").utf8)
        let (text, cookie) = try await answer(to: request, at: server, over: client)
        if text.contains(isAccepted), let cookie { return cookie }
        guard text.contains(/"stat"\s*:\s*"fail"/) else {
            throw RequestError.wrongType("an answer that is not Piwigo’s")
        }
        if try await isBehindPassword(plan, at: server, over: client) { return "" }
        throw server.origin.map { RequestError.signIn(PiwigoRules.question(at: $0, wasRefused: true)) }
            ?? RequestError.status(401, retryAfter: nil)
    }

    private static var isAccepted: Regex<Substring> { /"stat"\s*:\s*"ok"/ }

    /// Returns whether the web server in front of Piwigo wants a password itself.
    private static func isBehindPassword(
        _ plan: FetchPlan, at server: Address, over client: HTTPClient
    ) async throws -> Bool {
        var request = try request("pwg.session.getStatus", for: plan, at: server)
        request.signIn = nil
        do {
            _ = try await Response.to(request, over: client, with: TransferPermit(.list))
            return false
        } catch RequestError.signIn(let question) {
            return question.keyHeader == nil
        }
    }

    private static func request(_ method: String, for plan: FetchPlan, at server: Address) throws -> FetchPlan {
        var request = FetchPlan(
            address: try server.resolving("ws.php?format=json&method=\(method)"),
            headers: [("Accept", "application/json")], signIn: plan.signIn, limit: limit,
            addressPolicy: plan.addressPolicy, isNamedByUser: plan.isNamedByUser)
        request.publicity = plan.publicity
        return request
    }

    /// Sends a request. Returns the text of the answer, and its cookies in the form for requests.
    private static func answer(
        to request: FetchPlan, at server: Address, over client: HTTPClient
    ) async throws -> (text: String, cookie: String?) {
        var response = try await Response.to(request, over: client, with: TransferPermit(.list))
        guard response.address.origin == server.origin else {
            throw FormatError.notAGallery("a page of another server")
        }
        let text = String(decoding: try await response.allBytes(), as: UTF8.self)
        return (text, response.head.headers["set-cookie"].flatMap(PiwigoRules.cookie))
    }
}

extension FetchPlan {
    /// Returns the answer for a picture that requires a session.
    ///
    /// If the server has ended the session, this method signs in and repeats the request once.
    func answer(
        in sessions: PiwigoSessions, at server: Address, over client: HTTPClient, with permit: TransferPermit
    ) async throws -> Response {
        let session = try await sessions.session(for: self, at: server, over: client)
        do {
            return try await Response.to(with(session), over: client, with: permit)
        } catch RequestError.status(401, let retryAfter) {
            guard try await !PiwigoSessions.isOpen(session, for: self, at: server, over: client) else {
                throw RequestError.status(401, retryAfter: retryAfter)
            }
            let session = try await sessions.session(for: self, at: server, after: session.number, over: client)
            return try await Response.to(with(session), over: client, with: TransferPermit())
        }
    }

    /// Returns the plan with the cookie of a session. The client sends it only to the plan's own server.
    func with(_ session: PiwigoSessions.Session) -> FetchPlan {
        var plan = self
        plan.sessions = nil
        if !session.cookie.isEmpty { plan.headers.append(("Cookie", session.cookie)) }
        return plan
    }
}
