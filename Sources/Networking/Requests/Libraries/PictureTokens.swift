import Cache
import Concurrency
import Formats
import HTTP
import Model
import Numbers

/// The tokens that PhotoPrism servers require in the addresses of pictures.
///
/// A server accepts no other proof for a picture, and its tokens may change at any time. So the cache stores addresses
/// without tokens. The tokens are fetched for the first picture of a run, and again after a refusal.
actor PictureTokens {
    /// The tokens for thumbnails and for files.
    struct Pair: Hashable, Sendable {
        let preview: String
        let download: String

        init(preview: String, download: String) {
            (self.preview, self.download) = (preview, download)
        }

        /// Takes the tokens from the answer to a request for photos. A server without passwords sends no tokens and
        /// accepts any text.
        init(_ head: HTTPResponse) {
            self.init(found: head.headers["x-preview-token"], head.headers["x-download-token"])
        }

        /// Takes the tokens of an opened link.
        init(_ answer: PhotoPrismVisitParser) { self.init(found: answer.previewToken, answer.downloadToken) }

        private init(found preview: String?, _ download: String?) {
            func token(_ text: String?) -> String {
                text.flatMap { $0.wholeMatch(of: /[0-9A-Za-z_-]{1,64}/) == nil ? nil : $0 } ?? "public"
            }
            self.init(preview: token(preview), download: token(download))
        }
    }

    /// Tokens with a number that grows whenever tokens are fetched.
    struct Grant: Sendable {
        let pair: Pair
        let number: Int
    }

    /// A server, and the credentials or the shared link that get its tokens.
    private struct Key: Hashable {
        let server: Address
        let signIn: SignIn?
        let share: PhotoPrismShare?
    }

    /// A request for tokens, running or done.
    private struct Fetch {
        let number: Int
        let time: Duration
        /// The tokens that the server had refused before; nil if it had refused none.
        let refused: Pair?
        let task: SharedTask<Pair>
        /// Whether the server has refused the shared link.
        var isRefused = false
    }

    private let clock: any NetworkClock
    private var fetches: [Key: Fetch] = [:]
    private var count = 0

    /// The time before Vitrine fetches the same tokens again. If the server refuses them within this time, it refuses
    /// the picture.
    private static let patience = Duration.seconds(60)

    /// The maximum number of bytes of the answer that comes with the tokens. It describes one photo, or the server's
    /// settings.
    private static let limit: ByteCount = 1 << 20

    /// - Parameter clock: the clock for the time since tokens were fetched.
    init(_ clock: any NetworkClock) { self.clock = clock }

    /// Returns the tokens for a picture. Throws if the server refuses the picture with valid tokens.
    ///
    /// - Parameters:
    ///   - plan: the plan of the request for the picture. Its credentials get the tokens.
    ///   - refused: the number of the tokens that the server has refused; nil if it refused none.
    func grant(
        for plan: FetchPlan, at server: Address, after refused: Int? = nil, over client: HTTPClient
    ) async throws -> Grant {
        let key = Key(server: server, signIn: plan.signIn, share: plan.share)
        let before = await refusedPair(key, refused)
        if let known = fetches[key], known.isRefused, clock.now >= known.time + Self.patience { fetches[key] = nil }
        let fetch: Fetch
        // Many requests need the tokens at the same time, so they share one request for them.
        if let known = fetches[key], known.number != refused {
            fetch = known
        } else {
            // Each opening of a link gives other tokens, so equal tokens cannot show that the server refuses the
            // picture.
            if let known = fetches[key], let before, known.refused == before || plan.share != nil,
                clock.now < known.time + Self.patience
            {
                throw RequestError.status(403, retryAfter: nil)
            }
            count += 1
            let number = count
            let task = SharedTask<Pair> {
                do {
                    return try await Self.pair(for: plan, at: server, over: client)
                } catch {
                    await self.recordFailure(error, of: number, for: key)
                    throw error
                }
            }
            fetch = Fetch(number: number, time: clock.now, refused: before, task: task)
            fetches[key] = fetch
        }
        return Grant(pair: try await fetch.task.value, number: fetch.number)
    }

    /// Forgets a failed request for tokens, also if all pictures that awaited it were cancelled.
    private func recordFailure(_ error: any Error, of number: Int, for key: Key) {
        guard fetches[key]?.number == number else { return }
        if case RequestError.sharedLink = error {
            // After ten refused visits, the server refuses all sign-ins from this machine for some minutes.
            fetches[key]?.isRefused = true
        } else {
            fetches[key] = nil
        }
    }

    /// Whether no request for tokens is running or done. Tests read this.
    var isEmpty: Bool { fetches.isEmpty }

    /// Returns the refused tokens. Returns nil if newer tokens have been fetched since.
    private func refusedPair(_ key: Key, _ refused: Int?) async -> Pair? {
        guard let refused, let known = fetches[key], known.number == refused else { return nil }
        return try? await known.task.value
    }

    /// Fetches the tokens: with the list of one photo, or by opening a shared link.
    private static func pair(
        for plan: FetchPlan, at server: Address, over client: HTTPClient
    ) async throws -> Pair {
        let list = LibraryRequest(address: try server.resolving("\(PhotoPrismRules.list)?count=1&primary=true"))
        let wanted = try plan.share?.visit(to: server) ?? list
        var request = FetchPlan(
            address: wanted.address, signIn: plan.signIn, limit: limit, addressPolicy: plan.addressPolicy,
            isNamedByUser: plan.isNamedByUser)
        request.take(wanted)
        var response = try await Response.to(request, over: client, with: TransferPermit(.list))
        guard response.address.origin == server.origin else {
            throw FormatError.notAGallery("a page of another server")
        }
        // The tokens are in the head of a list, and in the body of the answer to a visitor.
        guard let share = plan.share else { return Pair(response.head) }
        let answer = PhotoPrismVisitParser(album: share.album)
        _ = try answer.parse(try await response.allBytes())
        _ = try answer.finish()
        return Pair(answer)
    }
}

extension FetchPlan {
    /// Returns the answer to the plan. First adds the required token or session cookie.
    ///
    /// If the server refuses the token, this method fetches a new token and repeats the request once.
    func answer(over client: HTTPClient, with permit: TransferPermit) async throws -> Response {
        if let sessions, let server = PiwigoRules.server(ofOriginal: address) {
            return try await answer(in: sessions, at: server, over: client, with: permit)
        }
        guard let tokens, let server = PhotoPrismRules.server(ofPicture: address) else {
            return try await Response.to(self, over: client, with: permit)
        }
        let grant = try await tokens.grant(for: self, at: server, over: client)
        do {
            return try await Response.to(try with(grant), over: client, with: permit)
        } catch RequestError.status(403, _) {
            // The server may have started again. It then accepts an old token only after a request with credentials.
            let grant = try await tokens.grant(for: self, at: server, after: grant.number, over: client)
            return try await Response.to(try with(grant), over: client, with: TransferPermit())
        }
    }

    private func with(_ grant: PictureTokens.Grant) throws -> FetchPlan {
        var plan = self
        plan.address = try PhotoPrismRules.address(of: address, with: grant.pair)
        plan.tokens = nil
        plan.secrets = [grant.pair.preview, grant.pair.download]
        return plan
    }
}
