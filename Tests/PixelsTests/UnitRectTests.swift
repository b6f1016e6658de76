import Pixels
import Testing

struct UnitRectTests {
    @Test func cutsOffRoundingErrors() throws {
        let rect = try #require(UnitRect(x: 0.9, y: 0, width: 0.1 + 1e-12, height: 1))
        #expect(rect.x + rect.width <= 1)
        #expect(UnitRect(x: 0, y: 0, width: 1, height: 1) == .whole)
    }

    @Test(arguments: [
        [-0.1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, -1], [0.5, 0, 0.6, 1], [0, 1, 1, 1e-12], [.nan, 0, 1, 1],
        [0, 0, .nan, 1], [0, 0, 1, 1e-300], [0, 0, .infinity, 1], [.infinity, 0, 1, 1],
    ])
    func refusesInvalidRectangles(numbers: [Double]) {
        #expect(UnitRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]) == nil)
    }
}
