import Model
import TestSupport
import Testing

@testable import Cache

/// Moments at the limits of integers, which a damaged cache may contain.
@Suite struct LocalDayTests {
    @Test("Every moment belongs to a day that contains it")
    func bounds() {
        var numbers = BoundaryNumbers(seed: 1)
        for index in 0..<10_000 {
            let extremes: [Int64] = [.min, .max, .min + 1, .max - 1]
            let number = index < extremes.count ? extremes[index] : Int64(bitPattern: numbers.number())
            let day = LocalDay(of: Timestamp(milliseconds: number))
            for rule in [SectionRule.day, .month, .year] {
                let moments = day.moments(of: rule)
                #expect(moments.lowerBound <= moments.upperBound)
            }
        }
    }
}
