import Cache
import Formats
import HTTP
import Model
import Numbers

/// Sends requests to a library's server and parses the answers.
struct LibraryReader {
    /// The head of an answer, and the state of the sign-in when the answer came.
    struct Answer {
        let head: HTTPResponse
        /// Whether the server recognizes the user.
        let isSignedIn: Bool
    }

    /// The head of the first answer.
    private(set) var head: HTTPResponse?
    private let server: Address
    /// The library to read; nil for other lists of the server.
    private let library: (any PhotoLibrary)?
    private let cache: GalleryCache
    private let client: HTTPClient
    /// The permit of the first request. Later requests get permits of their own.
    private let permit: TransferPermit
    private let sessions: PiwigoSessions
    /// Waits for a server that is too busy; nil to report the refusal instead.
    private let wait: (@Sendable (Duration, RequestError) async throws -> Void)?
    private var patience = Patience()
    /// The session of the user; nil before the first request. Also nil for credentials that open no session.
    private var session: PiwigoSessions.Session?
    /// Whether the first request was sent.
    private var hasSent = false
    private let publicity: Publicity

    /// The maximum number of bytes of an answer. A page of 1,000 photos has about 1 MB.
    private static let limit: ByteCount = 1 << 26
    /// The maximum number of bytes of a small answer.
    private static let smallLimit: ByteCount = 1 << 16
    /// The maximum number of bytes of a server's settings. Some contain lists of cameras and people.
    private static let settingsLimit: ByteCount = 1 << 24
    /// The maximum number of pages of a list.
    private static let maximumPages = 10_000
    /// The maximum number of albums of a list. Vitrine leaves out the rest.
    static let maximumAlbums = 5_000
    /// The maximum number of parts of a library.
    private static let maximumParts = 100_000

    /// Creates a reader for a server.
    ///
    /// - Parameters:
    ///   - library: the library to read; nil for other lists of the server.
    ///   - sessions: the sessions of users.
    ///   - wait: waits for a server that refuses a later request because it is too busy; nil to report the refusal.
    init(
        server: Address, library: (any PhotoLibrary)? = nil, of cache: GalleryCache, _ publicity: Publicity,
        in sessions: PiwigoSessions = PiwigoSessions(), over client: HTTPClient, with permit: TransferPermit,
        wait: (@Sendable (Duration, RequestError) async throws -> Void)? = nil
    ) {
        (self.server, self.library, self.cache, self.sessions) = (server, library, cache, sessions)
        self.wait = wait
        (self.publicity, self.client, self.permit) = (publicity, client, permit)
    }

    /// Reads all pages, and passes on the photos of each page. Returns the number of pages.
    ///
    /// - Parameters:
    ///   - time: reads only photos whose record has changed since this time; nil for all photos.
    ///   - onPhotos: called with photos, and with the answer that contains them.
    @discardableResult
    mutating func readPhotos(
        of library: any PhotoLibrary, changedSince time: Timestamp? = nil,
        _ onPhotos: ([LibraryPhoto], Answer) async throws -> Void
    ) async throws -> Int {
        var page: String?
        var pages: Set<String> = []
        var firsts: Set<String> = []
        for number in 1...Self.maximumPages {
            let parser = library.makePhotoParser(forPage: page)
            var first: String?
            try await read(try library.photos(onPage: page, changedSince: time), with: parser) { photos, answer in
                if first == nil, let id = photos.first?.id {
                    first = id
                    // Without this check, a server that repeats a page would keep the update running forever.
                    guard firsts.insert(id).inserted else { throw RequestError.wrongType("the same page twice") }
                }
                try await onPhotos(photos, answer)
            }
            guard let next = parser.nextPage else { return number }
            guard first != nil || parser.mayLackPhotos else {
                throw RequestError.wrongType("an empty page before the last page")
            }
            guard pages.insert(next).inserted else { throw RequestError.wrongType("the same page twice") }
            page = next
        }
        throw RequestError.wrongType("more than \(Self.maximumPages) pages")
    }

    /// Reads all pages of a list of albums, up to the maximum number. Returns whether the list has more albums.
    mutating func readAlbums(of list: LibraryAlbumList) async throws -> (albums: [Album], isCut: Bool) {
        var albums: [Album] = []
        var isCut = false
        var addresses: Set<Address> = []
        var page: String?
        var pages: Set<String> = []
        while true {
            let parser = list.makeParser(page)
            let count = albums.count
            try await read(try list.request(page), with: parser) { found, _ in
                for album in found where !addresses.contains(album.address) {
                    guard albums.count < Self.maximumAlbums else {
                        isCut = true
                        return
                    }
                    addresses.insert(album.address)
                    albums.append(album)
                }
            }
            // A page that only repeats albums ends the list, because the following pages would only repeat them, too.
            if isCut || albums.count == count { return (albums, isCut) }
            guard let next = parser.nextPage else { return (albums, isCut) }
            guard pages.insert(next).inserted else { throw RequestError.wrongType("the same page twice") }
            page = next
        }
    }

    /// Reads the server's settings. Returns the library with them.
    ///
    /// A web server in front of the server may require a password that the server's settings do not need.
    mutating func readSettings(of library: any PhotoLibrary) async throws -> any PhotoLibrary {
        guard var request = try library.settings() else { return library }
        do {
            var response: Response
            do {
                response = try await self.response(to: request, limit: Self.settingsLimit)
            } catch let error as RequestError where request.isAnonymous && hasCredentials && error.refusesGuests {
                request.isAnonymous = false
                response = try await self.response(to: request, limit: Self.settingsLimit)
            }
            return try library.with(settings: try await response.allBytes())
        } catch RequestError.status(let status, _) where [403, 404].contains(status) {
            // Another version of the server may not tell its settings.
            return library
        }
    }

    /// Reads the whole answer to a small request.
    mutating func readText(_ request: LibraryRequest) async throws -> [UInt8] {
        var response = try await response(to: request, limit: Self.smallLimit)
        return try await response.allBytes()
    }

    /// Reads the list of parts. Returns the server's counts by the names of the parts.
    mutating func readCounts(of parts: any LibraryParts) async throws -> [String: String] {
        var counts: [String: String] = [:]
        try await read(try parts.list(), with: parts.makeListParser()) { list, _ in
            for part in list { counts[part.name] = part.count }
            guard counts.count <= Self.maximumParts else {
                throw RequestError.wrongType("a list of too many months or albums")
            }
        }
        return counts
    }

    /// Reads the ids of all photos and videos in a part. Returns nil if the part has changed since the server counted
    /// it.
    mutating func readMembers(
        of part: String, count: String, in parts: any LibraryMembers
    ) async throws -> Set<String>? {
        var ids: Set<String> = []
        var memberCount = 0
        try await read(try parts.members(of: part), with: parts.makeMemberParser()) { members, _ in
            memberCount += members.count
            for member in members where member.isShown { ids.insert(member.id) }
        }
        return String(memberCount) == count ? ids : nil
    }

    /// Sends a request and parses its answer.
    private mutating func read<Item>(
        _ request: LibraryRequest, with parser: any LibraryParser<Item>,
        _ onItems: ([Item], Answer) async throws -> Void
    ) async throws {
        var response = try await response(to: request)
        let answer = Answer(head: response.head, isSignedIn: isSignedIn)
        var items: [Item] = []
        do {
            while let bytes = try await response.nextBytes() {
                items += try parser.parse(bytes)
                guard items.count >= Self.batch else { continue }
                try await onItems(items, answer)
                items = []
            }
            items += try parser.finish()
        } catch FormatError.refused(code: 401, _) {
            // Some servers refuse with the status 200.
            throw question.map { RequestError.signIn($0) } ?? RequestError.status(401, retryAfter: nil)
        }
        if !items.isEmpty { try await onItems(items, answer) }
    }

    /// Sends a request and returns the answer. Throws if another server answered.
    private mutating func response(
        to request: LibraryRequest, limit: ByteCount = LibraryReader.limit
    ) async throws -> Response {
        let isFirst = !hasSent
        hasSent = true
        var plan = plan(for: request)
        plan.limit = limit
        if isFirst, opensSession {
            session = try await sessions.openSession(for: plan, at: server, over: client)
        }
        if let session { plan = plan.with(session) }
        plan.namesSecuredRefusals = true
        let response: Response
        do {
            response = try await isFirst ? Response.to(plan, over: client, with: permit) : laterResponse(to: plan)
        } catch is SecuredRefusal {
            throw HTTPError.forbiddenRedirect
        } catch RequestError.signInElsewhere(let answered) {
            // The user can open the server's address, but not one of its interface for programs.
            throw RequestError.signInElsewhere((try? answered.resolving(server.path)) ?? answered)
        }
        guard response.address.origin == server.origin else {
            // A redirected request carries no credentials, so the answer may lack photos.
            if response.address.origin == server.secured?.origin { throw HTTPError.forbiddenRedirect }
            throw FormatError.notAGallery("a page of another server")
        }
        if head == nil { head = response.head }
        return response
    }

    /// Sends a request after the first. Sends it again while the server is busy, because otherwise all earlier pages
    /// would be requested again.
    private mutating func laterResponse(to plan: FetchPlan) async throws -> Response {
        while true {
            do {
                let response = try await Response.to(plan, over: client, with: TransferPermit(.list))
                patience.renew()
                return response
            } catch let error as RequestError where error.isRefusalOfBusyServer {
                guard let wait else { throw error }
                permit.recordRefusal(error)
                try await wait(try patience.delay(after: error), error)
            }
        }
    }

    /// The question for credentials if guests may see fewer photos; otherwise nil.
    var question: SignInQuestion? {
        guard library?.hidesPhotosFromGuests == true, let origin = server.origin else { return nil }
        return PiwigoRules.question(at: origin, wasRefused: hasCredentials)
    }

    /// Whether the requests carry credentials.
    var hasCredentials: Bool { signIn != nil }

    /// Whether the server recognizes the user. The value is valid after the first answer, because the credentials may
    /// be only for a web server in front of the server.
    var isSignedIn: Bool { hasCredentials && session?.cookie.isEmpty != true }

    private var opensSession: Bool {
        guard let library, let signIn else { return false }
        return library.opensSession(signIn)
    }

    /// Returns whether the session is still open. After its end, the server treats the user as a guest, who may see
    /// fewer photos.
    func isStillSignedIn() async throws -> Bool {
        guard let session, let library else { return true }
        let plan = plan(for: LibraryRequest(address: library.server))
        return try await PiwigoSessions.isOpen(session, for: plan, at: server, over: client)
    }

    private var signIn: SignIn? {
        let entered = cache.signIn(for: server)
        return library.map { $0.credentials(entered: entered) } ?? entered
    }

    /// The number of items to pass on at once. Each call of the comparer costs a transaction.
    private static let batch = 500

    private func plan(for request: LibraryRequest) -> FetchPlan {
        var plan = FetchPlan(
            address: request.address, signIn: request.isAnonymous ? nil : request.signIn ?? signIn, limit: Self.limit,
            addressPolicy: cache.listAddressPolicy, isNamedByUser: cache.isNamedByUser(server),
            allowsCompression: true)
        plan.publicity = publicity
        plan.take(request)
        return plan
    }
}

extension RequestError {
    /// Whether a request with credentials for the server may succeed instead.
    fileprivate var refusesGuests: Bool {
        switch self {
        case .signIn(let question): !question.isProxy
        case .unknownSignIn(_, let isOfProxy): !isOfProxy
        case .status(401, _): true
        default: false
        }
    }
}
