import Pixels
import Testing

@testable import Pictures

struct PictureErrorTests {
    /// Faults of a picture are remembered permanently. Missing libraries and memory may be available later.
    @Test(
        arguments: [
            (.undecodable(.notAPicture), true), (.undecodable(.unsupportedFormat("JPEG 2000")), true),
            (.undecodable(.noPreview(format: "NEF")), true),
            (.undecodable(.tooLarge(width: 65_500, height: 65_500)), true), (.undecodable(.damaged("it ends")), true),
            (.undecodable(.outOfMemory), true), (.undecodable(.shortOfMemory), false),
            (.undecodable(.missingLibrary(format: "HEIC", library: "libheif", package: "libheif1")), false),
            (.undecodable(.badRequest("no box")), false), (.decoderDied, false), (.tookTooLong, false),
            (.cannotStart("no"), false), (.tooFewDescriptors, false), (.cancelled, false), (.file("no"), false),
        ] as [(PictureError, Bool)])
    func tellsWhoseFaultItIs(error: PictureError, isThePictures: Bool) {
        #expect(error.isThePicturesFault == isThePictures)
    }
}
