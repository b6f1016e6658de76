import Foundation
import Logging
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Photos' metadata on their way into the cache.
extension PicturePipelineTests {
    /// A JPEG that names its camera.
    private func portrait(_ camera: String) throws -> [UInt8] {
        var exif = ExifFile(orientation: 6)
        exif.main.append((0x0110, .text(camera)))
        exif.exif = [(0x829D, .rationals([(28, 10)])), (0x8827, .short(400))]
        exif.gps = [
            (0x0001, .text("S")), (0x0002, .rationals([(12, 1), (30, 1), (0, 1)])),
            (0x0003, .text("E")), (0x0004, .rationals([(45, 1), (15, 1), (0, 1)])),
        ]
        let decoder = DecoderClient(path: try DecoderProcess.path)
        var request = DecodeRequest(box: PixelSize(width: 40, height: 30))
        request.product = .thumbnail
        let jpeg = try #require(try decoder.decode(.bytes(flat(100)), request).thumbnail)
        return ExifFile.jpeg(jpeg, inserting: exif.segment)
    }

    private func metadata(_ id: String) throws -> PhotoMetadata? {
        let key = try photo(id).key
        return try cache.read { try $0.metadata(of: key) }?.metadata
    }

    private func expectPortrait(_ metadata: PhotoMetadata?, of camera: String) {
        #expect(metadata?.camera == camera && metadata?.aperture == 2.8 && metadata?.iso == 400)
        #expect(metadata?.latitude == -12.5 && metadata?.longitude == 45.25)
        // Width and height are those of the upright picture, which is stored turned.
        #expect(metadata?.format == "JPEG" && metadata?.orientation == 6)
        #expect(metadata?.width == 30 && metadata?.height == 40)
    }

    @Test func drawingAPhotoStoresItsMetadata() async throws {
        try await sync(["a"])
        try await store(photo: portrait("One"), of: "a")
        #expect(try metadata("a") == nil)
        await finish(try full("a"))
        try await until { try metadata("a") != nil }
        expectPortrait(try metadata("a"), of: "One")
        #expect(try cache.unreadPhotos().isEmpty)
    }

    /// A renderer whose decoder adds a line to a file at each start.
    private func counting(_ folder: TestFolder, _ decoder: String? = nil) throws -> PictureRenderer {
        let decoder = try decoder ?? DecoderProcess.path
        let script = "#!/bin/sh\necho x >> '\(folder.path("count"))'\nexec '\(decoder)' \"$@\"\n"
        let path = try folder.writeProgram("decoder", script)
        return PictureRenderer(caches: caches, decoder: DecoderClient(path: path), log: Log())
    }

    @Test func oneDecodingGivesThumbnailAndMetadata() async throws {
        let folder = TestFolder()
        let counting = try counting(folder)
        try await sync(["a", "b"], thumbnails: false)
        try await store(photo: portrait("One"), of: "a")
        try await store(photo: portrait("Two"), of: "b")
        #expect(try counting.incomplete(in: cache) == [photo("a").key, photo("b").key])
        for id in ["a", "b"] { #expect(try await counting.complete(photo(id).key, in: cache)) }
        expectPortrait(try metadata("b"), of: "Two")
        #expect(try photo("a").thumbnail.isCurrent && photo("b").thumbnail.isCurrent)
        #expect(try String(contentsOfFile: folder.path("count"), encoding: .utf8) == "x\nx\n")
        #expect(try counting.incomplete(in: cache).isEmpty)
        #expect(try await !counting.complete(photo("a").key, in: cache))
        #expect(try String(contentsOfFile: folder.path("count"), encoding: .utf8) == "x\nx\n")
    }

    /// After one failure, files that begin alike are not tried until their library is installed; then all are read.
    @Test func missingLibrariesAreTriedOncePerFormat() async throws {
        let folder = TestFolder()
        let counting = try counting(folder, try BrokenDecoders.link("lacks-a-library", in: folder))
        let beginnings = ["a": "ftypheic", "b": "ftypheic", "c": "ftypavif", "d": "ftypheic"]
        try await sync(beginnings.keys.sorted())
        for (id, beginning) in beginnings {
            try await store(photo: [0, 0, 0, 24] + Array("\(beginning)\(id)".utf8), of: id)
        }
        for id in beginnings.keys.sorted() {
            let key = try photo(id).key
            let error = await #expect(throws: PictureError.self) { try await counting.complete(key, in: cache) }
            #expect(error?.isMissingLibrary == true)
        }
        #expect(try String(contentsOfFile: folder.path("count"), encoding: .utf8) == "x\nx\n")
        #expect(try cache.unreadPhotos().count == 4 && photo("d").original.trouble == nil)
    }

    /// Photos from an earlier run, and arriving ones that are not shown.
    @Test(.unlessItHangs) func readsPhotosThatAreNotShown() async throws {
        try await sync(["early", "broken", "late"])
        try await store(photo: portrait("Early"), of: "early")
        try await store(photo: Array(flat(200).prefix(20)), of: "broken")
        let reading = Task { [renderer, cache] in await renderer.readPhotos(in: cache) }
        try await until { try metadata("early") != nil }
        try await until { if case .bad = try photo("broken").original.trouble { true } else { false } }
        try await store(photo: portrait("Late"), of: "late")
        try await until { try metadata("late") != nil }
        expectPortrait(try metadata("early"), of: "Early")
        expectPortrait(try metadata("late"), of: "Late")
        reading.cancel()
        await reading.value
    }

    /// More galleries than the shared pool has threads: no other task is held up, and only one photo is decoded at a
    /// time.
    @Test(.unlessItHangs) func readsGalleriesOneAfterTheOther() async throws {
        let gate = folder.path("gate")
        mkfifo(gate, 0o600)
        let opener = open(gate, O_RDWR)
        defer { close(opener) }
        let decoder = try folder.writeProgram(
            "decoder",
            """
            #!/bin/sh
            echo begun >> '\(folder.path("begun"))'
            read -r go < '\(gate)'
            exec '\(try DecoderProcess.path)' "$@"
            """)
        let client = DecoderClient(path: decoder)
        let slow = PictureRenderer(caches: caches, decoder: client, log: Log())
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        var galleries: [GalleryCache] = []
        for number in 0..<count { galleries.append(try await gallery("\(number)")) }
        let begun = { (try? String(contentsOfFile: folder.path("begun"), encoding: .utf8))?.count { $0 == "\n" } ?? 0 }
        await withTaskGroup(of: Void.self) { group in
            for gallery in galleries { group.addTask { await slow.readPhotos(in: gallery) } }
            while begun() == 0, !Task.isCancelled { await Task.yield() }
            #expect(begun() == 1)
            for _ in galleries { write(opener, "\n", 1) }
            for gallery in galleries {
                while (try? gallery.unreadPhotos().isEmpty) == false, !Task.isCancelled { await Task.yield() }
            }
            group.cancelAll()
        }
        #expect(begun() == count)
    }

    /// A gallery with one photo.
    private func gallery(_ name: String) async throws -> GalleryCache {
        let cache = try caches.open(Address("http://example.org/\(name).xml"))
        let draft = try cache.beginSync()
        let address = try cache.address.resolving("a.jpg")
        try draft.add([
            GalleryEntry(id: "a", name: "a", date: Timestamp(milliseconds: 0), photo: address, thumbnail: address)
        ])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
        let photo = try #require(try cache.read { try $0.photo(galleryID: "a") })
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(portrait("A")))
        try await cache.writer.store(photo: partial, of: photo.key, edition: photo.original.edition)
        return cache
    }
}
