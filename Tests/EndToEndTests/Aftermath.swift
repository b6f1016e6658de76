import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Checks a cache after a crash or a disk failure: everything is whole, and nothing acknowledged is lost.
struct Aftermath {
    let home: Household
    /// The program's log, if it wrote one, lists what was stored.
    var log: String?

    /// Opens each cache like the next start and checks all of it, once all programs of the home have ended.
    ///
    /// - Parameter ids: the possible lists of photos, if known.
    func expectWhole(_ address: Address, ids: Set<Set<String>>? = nil, _ comment: Comment) async throws {
        #expect(home.waitForPrograms(), comment)
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
        // There are no complaints, broken or unused files, and each stored photo has a good file.
        let check = try await cache.check()
        #expect(check == CacheCheck(goodFiles: held), comment)
        let folder = ".cache/vitrine/galleries/\(cache.id)"
        #expect(home.folder.entries(folder + "/photos").count == held, comment)
        #expect(home.folder.entries(folder + "/partial").isEmpty, comment)
        if let ids { #expect(ids.contains(Set(photos.map(\.galleryID))), comment) }
        for (rendition, keys) in try acknowledged() {
            let there = photos.filter { (rendition == "photo" ? $0.original : $0.thumbnail).held != nil }.map(
                \.key.rawValue)
            // An update may have removed a photo that was stored meanwhile.
            let listed = photos.map(\.key.rawValue)
            #expect(keys.intersection(listed).isSubset(of: there), comment)
        }
    }

    /// Returns the keys that the log reports as stored, which it does after the commit, for each rendition.
    func acknowledged() throws -> [String: Set<Int64>] {
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
