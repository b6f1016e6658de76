import PictureTestSupport
import Pixels
import TestSupport
import Testing

struct DecodeRequestTests {
    @Test func argumentAndPacketKeepARequest() throws {
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
            #expect(try DecodeRequest(arguments: [request.argument]) == request)
            #expect(try DecodeRequest(packet: request.packet) == request)
        }
    }

    /// A changed packet gives a request within bounds, or an error.
    @Test func refusesOtherPackets() throws {
        let packet = DecodeRequest(box: PixelSize(width: 80, height: 80)).packet
        for length in packet.indices {
            #expect(throws: PixelsError.self) { try DecodeRequest(packet: Array(packet.prefix(length))) }
        }
        #expect(throws: PixelsError.self) { try DecodeRequest(packet: packet + [0]) }
        for index in packet.indices {
            for byte in UInt8.min...UInt8.max where byte != packet[index] {
                var other = packet
                other[index] = byte
                guard let request = try? DecodeRequest(packet: other) else { continue }
                #expect(DecodeRequest.pixelAspects.contains(request.pixelAspect))
                #expect(request.region.x + request.region.width <= 1)
            }
        }
    }

    @Test func clampsTheFrame() {
        var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        for (wanted, held) in [(-1, 0), (3, 3), (100_000, 99_999), (.max, 99_999), (.min, 0)] {
            request.frame = wanted
            #expect(request.frame == held)
        }
    }

    @Test func runsAreLimitedByTheirBytes() {
        var request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        for (wanted, held) in [(-1, 1), (3, 3), (17, 16), (.max, 16)] {
            request.run = wanted
            #expect(request.run == held && request.picturesAtOnce(of: request.box) == held)
        }
        request.box = PixelSize(width: 1000, height: 1000)
        #expect(request.picturesAtOnce(of: PixelSize(width: 80, height: 80)) == 16)
        #expect(request.picturesAtOnce(of: request.box) == 2)
        request.box = PixelSize(width: 8192, height: 8192)
        #expect(request.picturesAtOnce(of: request.box) == 1)
        request = DecodeRequest(box: PixelSize(width: 80, height: 80))
        request.run = 16
        request.product = .thumbnail
        #expect(request.picturesAtOnce(of: request.box) == 1)
    }

    @Test("An argument that is not exactly one packet in lowercase digits is refused")
    func refusesOtherArguments() {
        let argument = DecodeRequest(box: PixelSize(width: 80, height: 80)).argument
        let others = [
            "", "0", String(argument.dropLast()), String(argument.dropLast(2)), argument + "0", argument + "00",
            argument.uppercased(), "0x" + argument, " " + argument.dropFirst(), "--help", "é" + argument.dropFirst(2),
            String(repeating: "0", count: argument.count), String(repeating: "f", count: argument.count),
            String(repeating: "0", count: 1_000_000),
        ]
        for other in others { #expect(throws: PixelsError.self) { try DecodeRequest(arguments: [other]) } }
        for wrong in [[], [argument, argument], [argument, ""]] {
            #expect(throws: PixelsError.self) { try DecodeRequest(arguments: wrong) }
        }
    }

    /// The region of a layout is valid in another request.
    @Test func acceptsRegionsOfLayouts() throws {
        var random = SeededNumbers(seed: 4)
        for _ in 0..<500 {
            var request = DecodeRequest(box: PixelSize(width: .random(in: 1...99, using: &random), height: 77))
            request.fitting = .cover
            let source = PixelSize(
                width: .random(in: 1...999, using: &random), height: .random(in: 1...999, using: &random))
            for _ in 0..<3 {
                request.region = PictureLayout(of: source, for: request).region
                #expect(try DecodeRequest(packet: request.packet) == request)
            }
        }
    }
}
