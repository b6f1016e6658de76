import Foundation
import Model
import TestSupport
import Testing

@testable import Cache

/// The program with damaged databases. `MutationTests` has many more.
@Suite(.ownThread, .serialized) struct MutatedCacheTests {
    /// Eight fixed cases; a hundred others with `VITRINE_MUTATIONS`.
    private let areMore = ProcessInfo.processInfo.environment["VITRINE_MUTATIONS"] != nil

    @Test("BEHAVIOURS 4.3: no database crashes the program, and each update leaves a good one")
    func mutations() throws {
        let gallery = try SmallGallery()
        _ = try gallery.sync()
        let folder = "\(gallery.home.caches)/galleries/\(GalleryID(gallery.address))"
        let good = gallery.folder.path("good")
        try FileManager.default.copyItem(atPath: folder, toPath: good)
        let size = try #require(FileManager.default.contents(atPath: good + "/gallery.sqlite")).count
        var numbers = SeededNumbers(areMore: areMore)
        for round in 0..<(areMore ? 100 : 8) {
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.copyItem(atPath: good, toPath: folder)
            let mutation = DatabaseMutation.random(size: size, logSize: 0, pages: [], using: &numbers)
            try mutation.apply(to: folder + "/gallery.sqlite")
            let comment: Comment = "round \(round): \(mutation)"
            let list = try gallery.home.vitrine("list", gallery.path)
            #expect((0...1).contains(list.status), comment)
            let first = try gallery.sync()
            #expect((0...1).contains(first.status), comment)
            if first.errors.contains("newer version") { continue }
            let second = try gallery.sync()
            #expect(
                second.status == 0 && second.text.hasSuffix(SmallGallery.everything), "\(comment): \(second.errors)")
        }
    }
}
