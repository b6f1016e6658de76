import Testing

@testable import Painting

@Suite struct EXIFBlockTests {
    private func block(_ order: ByteSink.Order) -> EXIFBlock {
        EXIFBlock(
            title: "Dawn", taken: "2006:07:30 07:47:17",
            settings: CameraSettings((1, 250), f: 56, iso: 400, millimetres: 85), orientation: .transversed,
            width: 1200,
            height: 1600, place: Place(-24.5, 15.3422, altitude: -3), order: order)
    }

    @Test(arguments: [ByteSink.Order.littleEndian, .bigEndian])
    func canBeReadBack(order: ByteSink.Order) throws {
        let bytes = block(order).bytes
        #expect(bytes.prefix(6) == [0x45, 0x78, 0x69, 0x66, 0, 0])
        let tiff = try #require(ParsedTIFF(Array(bytes.dropFirst(6))))

        let first = tiff.directory(at: tiff.first)
        #expect(first[0x010E]?.text == "Dawn")
        #expect(first[0x010F]?.text == "Vitrine")
        #expect(first[0x0110]?.text == "Procedural 1")
        #expect(first[0x0112]?.numbers == [7])

        let detail = tiff.directory(at: try #require(first[0x8769]?.numbers.first))
        #expect(detail[0x829A]?.numbers == [1, 250])
        #expect(detail[0x829D]?.numbers == [56, 10])
        #expect(detail[0x8827]?.numbers == [400])
        #expect(detail[0x9003]?.text == "2006:07:30 07:47:17")
        #expect(detail[0x920A]?.numbers == [85, 1])
        #expect(detail[0xA002]?.numbers == [1200])
        #expect(detail[0xA003]?.numbers == [1600])
        #expect(detail[0xA434]?.text == "Vitrine Long 80-400mm F4.5")

        let position = tiff.directory(at: try #require(first[0x8825]?.numbers.first))
        #expect(position[1]?.text == "S")
        #expect(position[2]?.numbers == [24, 1, 30, 1, 0, 100])
        #expect(position[3]?.text == "E")
        #expect(position[4]?.numbers == [15, 1, 20, 1, 3192, 100])
        #expect(position[5]?.numbers == [1])
        #expect(position[6]?.numbers == [3, 1])
    }

    @Test func hasNoPositionWithoutAPlace() throws {
        var block = block(.littleEndian)
        block.place = nil
        let tiff = try #require(ParsedTIFF(Array(block.bytes.dropFirst(6))))
        #expect(tiff.directory(at: tiff.first)[0x8825] == nil)
    }
}
