import Testing

@testable import Painting

/// The gallery's pictures, painted very small.
@Suite struct PictureTests {
    /// Checksums of a few small pictures, which must be the same in debug and release builds.
    ///
    /// If you change a scene, change its checksum here.
    private static let sums: [(id: String, sum: UInt32)] = [
        ("dawn-ridge", 3_939_824_830), ("two-eggs", 2_157_466_136), ("on-the-shelf", 3_808_571_674),
        ("island-map", 625_508_515), ("owl", 2_672_588_971), ("moon", 26_066_196),
    ]

    @Test(arguments: sums)
    func picturesAreTheSameInEveryBuild(id: String, sum: UInt32) throws {
        let photo = try #require(Catalogue().photos.first { $0.id == id })
        let found = Checksum.crc32(photo.scene.picture(dividedBy: 50).bytes)
        #expect(found == sum, "\(id) is now \(found)")
    }

    @Test func closerLooksSoftenEdges() {
        var canvas = Canvas(PictureFormat(width: 8, height: 8))
        canvas.shade { p in Vec3(repeating: p.x + p.y < 1 ? 1 : 0) }
        let between = canvas.pixels.filter { $0.x > 0.1 && $0.x < 0.9 }
        #expect(between.count >= 8)
        #expect(canvas.pixels.first == Vec3(repeating: 1) && canvas.pixels.last == .zero)
    }

    @Test func keptPlacesStayAsTheyWere() {
        var canvas = Canvas(PictureFormat(width: 6, height: 6))
        canvas.shade { _ in Vec3(0, 0, 9) }
        canvas.shade(keeping: { $0.x < 0.5 }) { _ in Vec3(1, 0, 0) }
        #expect(canvas.pixels[0] == Vec3(0, 0, 9))
        #expect(canvas.pixels[5] == Vec3(1, 0, 0))
    }

    @Test func thinStrokesGrowFaintInsteadOfVanishing() {
        var canvas = Canvas(PictureFormat(width: 40, height: 40))
        canvas.stroke(from: Vec2(0, 0.51), to: Vec2(1, 0.51), width: 0.005, Vec3(repeating: 1))
        let light = canvas.pixels.reduce(Float(0)) { $0 + $1.x }
        #expect(abs(light - 40 * 0.2) < 2)
    }

    @Test func filmKeepsBlackBlackAndNeverOverflows() {
        var canvas = Canvas(PictureFormat(width: 4, height: 4))
        canvas.shade { p in p.y < 0.5 ? .zero : Vec3(repeating: 1e6) }
        var film = Film()
        film.grain = 0
        let raster = film.develop(canvas, seed: 1)
        #expect(raster.bytes.prefix(12).allSatisfy { $0 == 0 })
        #expect(raster.bytes.suffix(12).allSatisfy { $0 == 255 })
    }
}
