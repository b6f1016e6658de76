import Cells
import Foundation
import Logging
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

/// Examinations of photos, and drawings of partial photos.
extension PicturePipelineTests {
    private func examine(_ id: String) async throws -> PhotoExamination {
        let order = PictureOrder.examination(of: try photo(id), in: cache.id)
        let changes = pipeline.changes()
        let client = pipeline.makeClient()
        pipeline.want([order], by: client)
        while pipeline.examination(order) == nil, pipeline.failure(order) == nil { _ = await changes.next() }
        pipeline.want([], by: client)
        return try #require(pipeline.examination(order))
    }

    @Test func examinationsCoverTheWholePhoto() async throws {
        try await sync(["a"])
        var file = PNGFile(.rgb, depth: 8, size: PixelSize(width: 1_000, height: 500)) { x, _ in
            x < 250 ? [200, 0, 0] : [0, 0, 100]
        }
        var exif = ExifFile()
        exif.main = [(0x0110, .text("One\u{1B}[2J"))]
        file.chunks = [("eXIf", exif.tiff)]
        try await store(photo: file.bytes, of: "a")
        let examination = try await examine("a")
        let histogram = try #require(examination.histogram)
        #expect(histogram.count(.red, 200) * 3 == histogram.count(.blue, 100) && histogram.count(.red, 200) > 0)
        #expect(examination.metadata.width == 1_000 && examination.metadata.camera?.contains("One") == true)
        #expect(examination.fields.contains { $0.value.contains("One") })
        // It draws no picture.
        #expect(pipeline.picture(.examination(of: try photo("a"), in: cache.id)) == nil)
    }

    @Test func examinationsAreCachedLikePictures() async throws {
        try await sync(["a"])
        try await store(photo: flat(200), of: "a")
        await finish(try full("a"))
        let examination = try await examine("a")
        #expect(examination.histogram?.count(.red, 200) == 1_200)
        #expect(pipeline.picture(try full("a")) != nil)
    }

    // MARK: - Beginnings

    /// Writes some bytes of a photo in transfer into its file.
    private func begin(_ bytes: some Sequence<UInt8>, of id: String) throws -> PartialFile {
        let photo = try photo(id)
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false)
            .write(contentsOf: Data(Array(bytes)))
        return partial
    }

    private func beginning(_ id: String, _ arrived: Int64) throws -> PictureOrder {
        try full(id).beginning(arrived, edition: try photo(id).original.edition)
    }

    /// The colours in which a JPEG stores a photo.
    enum StoredColours: CaseIterable, Sendable {
        case plain, withProfile, inks
    }

    /// A photo that is green above and blue below.
    private func halves() throws -> [UInt8] {
        try Tool.cjpeg(halvesPicture.ppm, "-quality", "95", "-sample", "1x1")
    }

    private var halvesPicture: PixelBuffer {
        PixelBuffer(width: 160, height: 120) { _, y in
            y < 60 ? PixelColor(red: 0, green: 200, blue: 0) : PixelColor(red: 0, green: 0, blue: 200)
        }
    }

    /// The beginning of such a photo. Its scan ends near the middle of the picture.
    private func beginningOfHalves(_ colours: StoredColours) throws -> [UInt8] {
        let whole =
            colours == .inks
            ? try Tool.convert(
                halvesPicture.ppm, "ppm:-", "-colorspace", "CMYK", "-quality", "95", "-sampling-factor", "1x1",
                "jpeg:-")
            : try halves()
        let scan = try #require(whole.firstRange(of: [0xFF, 0xDA])).lowerBound
        let part = Array(whole.prefix((scan + whole.count) / 2))
        guard colours == .withProfile else { return part }
        var profile = ICCFile.displayP3
        profile.curve = .gamma(1.8)
        return ExifFile.jpeg(part, inserting: profile.segments())
    }

    @Test(
        "BEHAVIOURS 3.5: a photo in transfer shows the part that has arrived, and its thumbnail below",
        arguments: StoredColours.allCases)
    func drawsABeginning(colours: StoredColours) async throws {
        try await sync(["a"])
        let part = try begin(try beginningOfHalves(colours), of: "a")
        let bare = try beginning("a", 1)
        await finish(bare)
        let drawn = try #require(pipeline.picture(bare))
        #expect(!drawn.isComplete && drawn.width == 160)
        func isGreen(_ colour: Colour) -> Bool { if case .rgb(_, 150..., _) = colour { true } else { false } }
        #expect(isGreen(drawn.cells[0, 0].style.background))
        // The last row has not arrived and is grey.
        #expect(drawn.cells.cells.last?.style.background == .rgb(128, 128, 128))
        let red = PixelBuffer(width: 40, height: 30) { _, _ in PixelColor(red: 200, green: 0, blue: 0) }
        try await store(thumbnail: PNGFile(red).bytes, of: "a")
        let completed = try beginning("a", 2)
        await finish(completed)
        let whole = try #require(pipeline.picture(completed))
        #expect(isGreen(whole.cells[0, 0].style.background))
        #expect(whole.cells.cells.last?.style.background == .rgb(200, 0, 0))
        withExtendedLifetime(part) {}
    }

    @Test func damagedPartialPhotosAreNotRejected() async throws {
        try await sync(["a"])
        let bytes = try halves()
        var part: PartialFile? = try begin(bytes.prefix(20), of: "a")
        let order = try beginning("a", 20)
        await finish(order)
        #expect(pipeline.picture(order) == nil)
        #expect(try photo("a").original.trouble == nil)
        // The transfer has ended, so there is no partial file.
        withExtendedLifetime(part) {}
        part = nil
        let photo = try photo("a")
        #expect(cache.files.openPartial(of: photo.key, edition: photo.original.edition) == nil)
        let other = try begin(bytes, of: "a")
        #expect(cache.files.openPartial(of: photo.key, edition: 77) == nil)
        // Another photo has a key that begins with the same digits.
        let long = PhotoKey(photo.key.rawValue * 10 + 1)
        let third = try cache.files.makePartial(of: long, edition: photo.original.edition)
        try FileHandle(fileDescriptor: third.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes + [0]))
        let file = try #require(cache.files.openPartial(of: photo.key, edition: photo.original.edition))
        #expect(OriginalFile(file)?.size == Int64(bytes.count))
        close(file)
        // Another process fetches the same photo. The order of a folder's entries is arbitrary.
        let parts = [try begin(bytes + [0, 0], of: "a"), try begin(bytes + [0], of: "a")]
        let longest = try #require(cache.files.openPartial(of: photo.key, edition: photo.original.edition))
        #expect(OriginalFile(longest)?.size == Int64(bytes.count + 2))
        close(longest)
        withExtendedLifetime((other, third, parts)) {}
    }
}
