import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The same folders behind real servers, and on the disk.
@Suite(.ownThread) struct RealFoldersTests {
    private let folder = TestFolder()
    private let client = HTTPClient(log: Log())
    private let context: RequestContext
    private let tree: NastyTree
    private let textTree: NastyTree

    init() throws {
        let log = Log()
        context = RequestContext(
            caches: try CacheFolder(path: folder.path("cache"), log: log), activity: Activity(), log: log,
            now: { Timestamp(milliseconds: 42_000) })
        (tree, textTree) = (try NastyTree(), try NastyTree(isText: true))
    }

    private func tree(for kind: FolderServer.Kind) -> NastyTree { kind.listsAllBytes ? tree : textTree }

    private func list(_ cache: GalleryCache) async throws {
        let request: any NetworkRequest =
            if let local = try FolderListRequest.make(for: .list(cache.id), in: context) { local } else {
                try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
            }
        try await request.perform(over: client)
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] {
        var photos: [Photo] = []
        try cache.read { try $0.forEachPhoto { photos.append($0) } }
        return photos
    }

    /// The ids without those of hidden files, which Vitrine leaves out.
    private func visible(_ ids: [String]) -> [String] { ids.filter { !$0.hasPrefix(".") } }

    @Test("Each server's photos have the ids that they have on the disk", arguments: FolderServer.all)
    func ids(kind: FolderServer.Kind) async throws {
        let tree = tree(for: kind)
        let server = try await kind.start(serving: tree.root)
        let cache = try context.caches.open(Address(server.address))
        if kind.isDAV {
            // Some of these servers show web pages as well, which would be found first.
            let source = ListSource(kind: .webDAV, root: cache.address)
            _ = try await cache.writer.commit(
                try cache.beginSync().finish(), skipped: 0, validators: Validators(), source: source,
                at: Timestamp(milliseconds: 1))
        }
        try await list(cache)
        let found = NastyTree.sorted(try photos(cache).map(\.galleryID))
        #expect(found.map { Array($0.utf8) } == visible(kind.ids(of: tree)).map { Array($0.utf8) })
        #expect(try cache.read { try $0.gallery() }.skipped == 0)
        if let requests = try server.requests() {
            #expect(requests.count { $0.hasPrefix("HEAD") } == 0)
            #expect(requests.count == 3, "\(requests)")
        }
        // The second listing finds the same.
        try await list(cache)
        #expect(NastyTree.sorted(try photos(cache).map(\.galleryID)) == found)
    }

    @Test("An empty subfolder is read on each server", arguments: FolderServer.all)
    func emptySubfolder(kind: FolderServer.Kind) async throws {
        let pictures = TestFolder()
        pictures.write("a.jpg", "picture")
        try FileManager.default.createDirectory(
            atPath: pictures.path("empty"), withIntermediateDirectories: false)
        let server = try await kind.start(serving: pictures.path)
        let cache = try context.caches.open(Address(server.address))
        try await list(cache)
        #expect(try photos(cache).map(\.galleryID) == ["a.jpg"])
        #expect(try cache.read { try $0.gallery() }.skipped == 0)
    }

    @Test("A local folder's photos have the same ids")
    func localFolder() async throws {
        let cache = try context.caches.open(Address(filePath: tree.root))
        try await list(cache)
        let found = NastyTree.sorted(try photos(cache).map(\.galleryID))
        #expect(found.map { Array($0.utf8) } == visible(tree.ids).map { Array($0.utf8) })
    }

    @Test("Each server's photos can be fetched", arguments: FolderServer.all)
    func fetching(kind: FolderServer.Kind) async throws {
        let tree = tree(for: kind)
        let server = try await kind.start(serving: tree.root)
        let cache = try context.caches.open(Address(server.address))
        try await list(cache)
        var refused: [String] = []
        for photo in try photos(cache) {
            let request = try #require(
                try PhotoRequest.make(for: .picture(cache.id, photo.key, .original), in: context))
            do { try await request.perform(over: client) } catch { refused.append(photo.galleryID) }
        }
        #expect(NastyTree.sorted(refused) == NastyTree.sorted(kind.refusedIDs))
    }

    @Test("Each server's kind is found out within six requests", arguments: FolderServer.all)
    func detection(kind: FolderServer.Kind) async throws {
        let server = try await kind.start(serving: tree(for: kind).root)
        let cache = try context.caches.open(Address(server.address))
        try await list(cache)
        let source = try #require(try cache.read { try $0.source() })
        #expect([.web, .webDAV].contains(source.kind))
        if let requests = try server.requests() { #expect(requests.count <= 6 + 2, "\(requests)") }
    }

    @Test("Dates are those of the files, as far as the server tells", arguments: FolderServer.all)
    func dates(kind: FolderServer.Kind) async throws {
        let tree = tree(for: kind)
        let server = try await kind.start(serving: tree.root)
        let cache = try context.caches.open(Address(server.address))
        try await list(cache)
        let seconds = Dictionary(tree.photos.map { (Array($0.id.utf8), Int64($0.seconds)) }) { first, _ in first }
        var (known, dated) = (0, 0)
        for photo in try photos(cache) {
            guard let expected = seconds[Array(photo.galleryID.utf8)] else { continue }
            known += 1
            guard photo.date.milliseconds != 0 else { continue }
            dated += 1
            // Some servers state minutes, and two state their local time without a zone.
            #expect(abs(photo.date.seconds - expected) <= 5 * 3_600 + 60, "\(photo.galleryID)")
        }
        // Python's lists have no dates.
        #expect(kind == .pythonHTTPServer ? dated == 0 : dated > known / 2)
    }
}
