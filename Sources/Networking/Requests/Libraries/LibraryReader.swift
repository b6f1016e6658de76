import Cache
import Formats
import HTTP
import Model
import Numbers

/// Sends a library's requests and parses the answers.
struct LibraryReader {
    /// The head of the first answer.
    private(set) var head: HTTPResponse?
    private let library: any PhotoLibrary
    private let cache: GalleryCache
    private let client: HTTPClient
    /// The permit of the first request.
    private let permit: TransferPermit
    private var wasPublic: Bool

    /// The most bytes of an answer. A page of 1,000 photos has about 1 MB.
    private static let limit: ByteCount = 1 << 26
    /// The most pages of a list.
    private static let maximumPages = 10_000
    /// The most pages in succession without photos. A page of an album may have only videos.
    private static let maximumEmpty = 20
    /// The most parts of a library.
    private static let maximumParts = 100_000

    init(
        _ library: any PhotoLibrary, of cache: GalleryCache, wasPublic: Bool, over client: HTTPClient,
        with permit: TransferPermit
    ) {
        (self.library, self.cache, self.wasPublic, self.client, self.permit) = (
            library, cache, wasPublic, client, permit
        )
    }

    /// Reads all pages, and passes on the photos of each page. Returns the number of pages.
    ///
    /// - Parameter time: reads only photos whose record has changed since this time; nil for all photos.
    @discardableResult
    mutating func readPhotos(
        changedSince time: Timestamp? = nil, _ onPhotos: ([LibraryPhoto]) async throws -> Void
    ) async throws -> Int {
        var page: String?
        var firsts: Set<String> = []
        var emptyCount = 0
        for number in 1...Self.maximumPages {
            let parser = library.makePhotoParser(forPage: page)
            var first: String?
            try await read(try library.photos(onPage: page, changedSince: time), with: parser) { photos in
                if first == nil, let id = photos.first?.id {
                    first = id
                    // Without this check, a server that repeats a page would keep the update running forever.
                    guard firsts.insert(id).inserted else { throw RequestError.wrongType("the same page twice") }
                }
                try await onPhotos(photos)
            }
            guard let next = parser.nextPage else { return number }
            emptyCount = first == nil ? emptyCount + 1 : 0
            guard emptyCount <= Self.maximumEmpty else {
                throw RequestError.wrongType("\(emptyCount) empty pages in succession")
            }
            page = next
        }
        throw RequestError.wrongType("more than \(Self.maximumPages) pages")
    }

    /// Reads the list of parts. Returns the server's counts by the names of the parts.
    mutating func readCounts(of parts: any LibraryParts) async throws -> [String: String] {
        var counts: [String: String] = [:]
        try await read(try parts.list(), with: parts.makeListParser()) { list in
            for part in list { counts[part.name] = part.count }
            guard counts.count <= Self.maximumParts else { throw RequestError.wrongType("too many parts") }
        }
        return counts
    }

    /// Reads the ids of all photos in a part. Returns nil if the part has changed since the server counted it.
    mutating func readMembers(
        of part: String, count: String, in parts: any LibraryParts
    ) async throws -> Set<String>? {
        var ids: Set<String> = []
        var memberCount = 0
        try await read(try parts.members(of: part), with: parts.makeMemberParser()) { members in
            memberCount += members.count
            for member in members where member.isPhoto { ids.insert(member.id) }
        }
        return String(memberCount) == count ? ids : nil
    }

    /// Sends a request and parses its answer.
    private mutating func read<Item>(
        _ request: LibraryRequest, with parser: any LibraryParser<Item>, _ onItems: ([Item]) async throws -> Void
    ) async throws {
        var response = try await Response.to(
            plan(for: request), over: client, with: head == nil ? permit : TransferPermit(.list))
        guard response.address.origin == library.server.origin else {
            throw FormatError.notAGallery("a page of another server")
        }
        if head == nil { head = response.head }
        wasPublic = wasPublic || response.head.beganPublic
        var items: [Item] = []
        while let bytes = try await response.nextBytes() {
            items += try parser.parse(bytes)
            guard items.count >= Self.batch else { continue }
            try await onItems(items)
            items = []
        }
        items += try parser.finish()
        if !items.isEmpty { try await onItems(items) }
    }

    /// The number of items to pass on at once. Each call of the comparer costs a transaction.
    private static let batch = 500

    private func plan(for request: LibraryRequest) -> FetchPlan {
        var plan = FetchPlan(
            address: request.address, headers: request.headers,
            signIn: library.signIn ?? cache.signIn(for: library.server),
            limit: Self.limit, addressPolicy: cache.listAddressPolicy(wasPublic: wasPublic),
            isNamedByUser: cache.isNamedByUser(library.server), wasPublic: wasPublic, allowsCompression: true)
        plan.headers.append(("Accept", "application/json"))
        if let json = request.json {
            plan.method = .post
            plan.body = Array(json.utf8)
            plan.headers.append(("Content-Type", "application/json"))
        }
        return plan
    }
}
