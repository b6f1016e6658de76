import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct DecodeRequestTests {
    @Test func survivesTheCommandLineAndAPacket() throws {
        var random = SeededNumbers(seed: 3)
        for _ in 0..<500 {
            var request = DecodeRequest(
                box: PixelSize(
                    width: .random(in: 1...8192, using: &random), height: .random(in: 1...8192, using: &random)))
            let (x, y) = (Double.random(in: 0..<1, using: &random), Double.random(in: 0..<1, using: &random))
            request.region = try #require(
                UnitRect(
                    x: x, y: y, width: .random(in: 1e-9...1 - x, using: &random),
                    height: .random(in: 1e-9...1 - y, using: &random)))
            request.pixelAspect = .random(in: DecodeRequest.pixelAspects, using: &random)
            request.fitting = Bool.random(using: &random) ? .inside : .cover
            request.enlarges = .random(using: &random)
            request.background = PixelColor(red: .random(in: 0...255, using: &random), green: 7, blue: 255)
            request.turns = .random(in: 0...3, using: &random)
            request.product = .allCases.randomElement(using: &random)!
            request.isChequered = .random(using: &random)
            request.frame = .random(in: DecodeRequest.frames, using: &random)
            request.run = .random(in: DecodeRequest.runs, using: &random)
            request.haste = .allCases.randomElement(using: &random)!
            #expect(try DecodeRequest(arguments: request.arguments) == request)
            #expect(try DecodeRequest(packet: request.packet) == request)
        }
    }

    /// Of a packet that was changed comes a request within bounds, or none.
    @Test func refusesOtherPackets() throws {
        let packet = DecodeRequest(box: PixelSize(width: 80, height: 80)).packet
        for length in packet.indices {
            #expect(throws: PixelsError.self) { try DecodeRequest(packet: Array(packet.prefix(length))) }
        }
        #expect(throws: PixelsError.self) { try DecodeRequest(packet: packet + [0]) }
        for place in packet.indices {
            for byte in UInt8.min...UInt8.max where byte != packet[place] {
                var other = packet
                other[place] = byte
                guard let request = try? DecodeRequest(packet: other) else { continue }
                #expect(DecodeRequest.pixelAspects.contains(request.pixelAspect))
                #expect(request.region.x + request.region.width <= 1)
            }
        }
    }

    @Test func holdsTheFrame() {
        var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        for (wanted, held) in [(-1, 0), (3, 3), (100_000, 99_999), (.max, 99_999), (.min, 0)] {
            request.frame = wanted
            #expect(request.frame == held)
        }
    }

    @Test func aRunIsBoundedByItsBytes() {
        var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        for (wanted, held) in [(-1, 1), (3, 3), (17, 16), (.max, 16)] {
            request.run = wanted
            #expect(request.run == held && request.picturesAtOnce == held)
        }
        request.box = PixelSize(width: 1000, height: 1000)
        #expect(request.picturesAtOnce == 2)
        request.box = PixelSize(width: 8192, height: 8192)
        #expect(request.picturesAtOnce == 1)
        request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        request.run = 16
        request.product = .thumbnail
        #expect(request.picturesAtOnce == 1)
    }

    @Test(arguments: [
        (0, "region=0,0,1,1"), (0, "region=0.0,0.0,1.0"), (0, "region=0.0,0.0,1.0,1.5"), (0, "region=nan,0.0,1.0,1.0"),
        (0, "region=0.0,0.0,1.0,1.0,"), (0, ""), (0, "=0.0,0.0,1.0,1.0"),
        (1, "box=0x80"), (1, "box=80"), (1, "box=80x80x80"), (1, "box=+80x80"), (1, "box=080x80"),
        (1, "box=9999x9999"), (1, "box=99999999999999999999x1"), (1, "box=-1x80"), (1, "Box=80x80"),
        (2, "aspect=0.0"), (2, "aspect=inf"), (2, "aspect=1"), (2, "aspect=0x1p0"), (2, "aspect= 1.0"),
        (3, "fitting="), (3, "fitting=stretch"), (4, "enlarges=maybe"), (4, "enlarges=1"),
        (5, "background=0,0,256"), (5, "background=0,0"), (5, "background=0,0,-1"), (6, "chequer=1"),
        (6, "chequer=maybe"), (7, "product="), (7, "product=YES"), (7, "pixels"),
        (8, "frame=-1"), (8, "frame=+1"), (8, "frame=100000"), (8, "frame="), (8, "frame=99999999999999999999"),
        (9, "haste=now"), (9, "haste="),
        (10, "turns=4"), (10, "turns=-1"), (10, "turns=01"), (10, "turns="),
        (11, "run=0"), (11, "run=17"), (11, "run=+1"), (11, "run="),
    ])
    func refusesEverythingElse(index: Int, argument: String) {
        var arguments = DecodeRequest(box: PixelSize(width: 80, height: 80)).arguments
        arguments[index] = argument
        #expect(throws: PixelsError.self) { try DecodeRequest(arguments: arguments) }
    }

    /// A region that came back from the decoder can be asked for again.
    @Test func takesWhatALayoutCovers() throws {
        var random = SeededNumbers(seed: 4)
        for _ in 0..<500 {
            var request = DecodeRequest(box: PixelSize(width: .random(in: 1...99, using: &random), height: 77))
            request.fitting = .cover
            let source = PixelSize(
                width: .random(in: 1...999, using: &random), height: .random(in: 1...999, using: &random))
            for _ in 0..<3 {
                request.region = PictureLayout(of: source, for: request).region
                #expect(try DecodeRequest(arguments: request.arguments) == request)
            }
        }
    }

    @Test func refusesTooFewTooManyAndAnotherOrder() {
        let arguments = DecodeRequest(box: PixelSize(width: 80, height: 80)).arguments
        for wrong in [[], Array(arguments.dropLast()), arguments + ["more"], arguments.reversed()] {
            #expect(throws: PixelsError.self) { try DecodeRequest(arguments: wrong) }
        }
    }
}
