import Pixels
import Testing

@testable import Decoding

/// References between the pictures of a HEIF file, and its codecs.
struct HEIFReferencesTests {
    private func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private func box(_ type: String, _ content: [UInt8], isLong: Bool = false) -> [UInt8] {
        isLong
            ? number(1, 4) + Array(type.utf8) + number(content.count + 16, 8) + content
            : number(content.count + 8, 4) + Array(type.utf8) + content
    }

    /// A file with references between pictures.
    private func file(_ parts: [Int: [Int]], version: UInt8 = 0, isLong: Bool = false, kind: String = "dimg") -> [UInt8]
    {
        let length = version == 0 ? 2 : 4
        let references = parts.sorted { $0.key < $1.key }.flatMap { picture, parts in
            box(kind, number(picture, length) + number(parts.count, 2) + parts.flatMap { number($0, length) })
        }
        let meta = box("hdlr", number(0, 20)) + box("iref", [version, 0, 0, 0] + references, isLong: isLong)
        return box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) + box("meta", [0, 0, 0, 0] + meta)
    }

    private func areFinite(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { HEIFReferences($0).areFinite } }

    @Test func acceptsComposedPictures() {
        #expect(areFinite([]) && areFinite(file([:])))
        #expect(areFinite(file([1: [2, 3, 3], 4: [1, 2]])))
        #expect(areFinite(file([1: [2, 3, 3], 4: [1, 2]], version: 1, isLong: true)))
        // A thumbnail refers to its picture but is not part of it.
        #expect(areFinite(file([1: [1]], kind: "thmb")))
        #expect(areFinite(file(Dictionary(uniqueKeysWithValues: (1...7).map { ($0, [$0 + 1]) }))))
    }

    @Test func refusesPicturesThatContainThemselves() throws {
        for parts in [[2: [2]], [1: [2], 2: [1]], [1: [5, 2], 2: [6, 3], 3: [1]]] {
            for (version, isLong) in [(0, false), (1, false), (1, true)] as [(UInt8, Bool)] {
                #expect(!areFinite(file(parts, version: version, isLong: isLong)), "\(parts)")
            }
        }
        #expect(!areFinite(file(Dictionary(uniqueKeysWithValues: (1...8).map { ($0, [$0 + 1]) }))))
        let request = DecodeRequest(box: PixelSize(width: 8, height: 8))
        #expect(throws: DecodeFailure.damaged("it contains a picture that contains itself")) {
            try file([2: [2]]).withUnsafeBytes { try Decoder.decode($0, request) }
        }
    }

    @Test("A file names its codecs, whatever its brand")
    func codecs() {
        func needed(_ properties: [String]) -> [HEIFCodec] {
            let boxes = properties.flatMap { box($0, [0, 0, 0, 0]) }
            let meta = box("hdlr", number(0, 20)) + box("iprp", box("ipco", boxes) + box("ipma", number(0, 8)))
            let file = box("ftyp", Array("mif1\0\0\0\0mif1".utf8)) + box("meta", [0, 0, 0, 0] + meta)
            for length in 0..<file.count { _ = Array(file.prefix(length)).withUnsafeBytes { HEIFCodec.needed(by: $0) } }
            return file.withUnsafeBytes { HEIFCodec.needed(by: $0) }
        }
        #expect(needed(["ispe", "hvcC", "irot"]) == [.hevc] && needed(["av1C", "ispe"]) == [.av1])
        #expect(needed(["av1C", "hvcC"]) == [.hevc, .av1] && needed(["vvcC", "ispe"]).isEmpty && needed([]).isEmpty)
    }

    @Test("A missing codec is no damage of the picture")
    func missingCodecs() {
        func failure(_ code: UInt32, _ detail: UInt32, _ missing: HEIFCodec?) -> DecodeFailure {
            HEIFPicture.failure(code: code, detail: detail, format: "HEIC", message: "words", missing: missing)
        }
        let hevc = DecodeFailure.missingLibrary(format: "HEIC", library: "libde265", package: "libde265-0")
        let av1 = DecodeFailure.missingLibrary(format: "HEIC", library: "libdav1d", package: "libdav1d7 or libdav1d6")
        #expect(!hevc.isThePicturesFault && !av1.isThePicturesFault)
        // libheif's numbers for an unsupported codec, in old and new versions.
        for (code, detail) in [(4, 3000), (11, 6003)] as [(UInt32, UInt32)] {
            #expect(failure(code, detail, .hevc) == hevc && failure(code, detail, .av1) == av1)
            #expect(failure(code, detail, nil) == .unsupportedFormat("HEIC (words)"))
        }
        // A codec failed: another one may read the picture, unless all are there.
        #expect(failure(7, 0, .hevc) == hevc && failure(7, 0, nil) == .damaged("words"))
        // Invalid input, another unsupported feature, and no error of libheif at all.
        for (code, detail) in [(2, 100), (4, 3001), (0, 0)] as [(UInt32, UInt32)] {
            #expect(
                failure(code, detail, .hevc) == .damaged("words") && failure(code, detail, nil) == .damaged("words"))
        }
    }

    @Test func readsTruncatedFilesPartially() {
        let whole = file([1: [2], 2: [1]], isLong: true)
        for length in 0..<whole.count { _ = areFinite(Array(whole.prefix(length))) }
        for place in whole.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var other = whole
                other[place] = value
                _ = areFinite(other)
            }
        }
    }
}
