import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// What has to be found in a cache after the program that was filling it has died, or has met with a bad disk: everything
/// is whole, and nothing that it acknowledged is gone.
struct Aftermath {
    let home: Household
    /// The log of the program, where it wrote one: what it says was stored has been.
    var log: String?

    /// Opens each cache, as the next start does, and looks through all of it.
    ///
    /// - Parameter ids: the lists of photos of which a cache may hold one, if that is known.
    func expectWhole(_ address: Address, ids: Set<Set<String>>? = nil, _ comment: Comment) async throws {
        guard home.folder.entries(".cache/vitrine/galleries").contains("\(GalleryID(address))") else {
            #expect(try acknowledged().isEmpty, comment)
            return
        }
        let cache = try CacheFolder(path: home.caches, log: Log()).open(address)
        #expect(!cache.wasSetAside, comment)
        try cache.sweep()
        let photos = try cache.read { reader in
            var photos: [Photo] = []
            try reader.forEachPhoto { photos.append($0) }
            return photos
        }
        let held = photos.count { $0.original.held != nil }
        // Not a complaint, not a broken file, nothing left over, and a good file for each photo that is here.
        #expect(try await cache.check() == CacheCheck(goodFiles: held), comment)
        let folder = ".cache/vitrine/galleries/\(cache.id)"
        #expect(home.folder.entries(folder + "/photos").count == held, comment)
        #expect(home.folder.entries(folder + "/partial").isEmpty, comment)
        if let ids { #expect(ids.contains(Set(photos.map(\.galleryID))), comment) }
        for (rendition, keys) in try acknowledged() {
            let there = photos.filter { (rendition == "photo" ? $0.original : $0.thumbnail).held != nil }.map(
                \.key.rawValue)
            // An update may have removed a photo that was stored while the list was on its way.
            let listed = photos.map(\.key.rawValue)
            #expect(keys.intersection(listed).isSubset(of: there), comment)
        }
    }

    /// What the log says was stored: it is written after the commit has returned.
    private func acknowledged() throws -> [String: Set<Int64>] {
        guard let log, let text = try? String(contentsOfFile: log, encoding: .utf8) else { return [:] }
        var keys: [String: Set<Int64>] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 6, words[3] == "stored", let key = Int64(words[5]) else { continue }
            keys[String(words[4]), default: []].insert(key)
        }
        return keys
    }
}
