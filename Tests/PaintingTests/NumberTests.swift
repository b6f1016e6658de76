import Glibc
import Testing

@testable import Painting

/// Elementary functions and random numbers.
@Suite struct NumberTests {
    @Test func elementaryFunctionsAreAsGoodAsTheyNeedToBe() {
        for step in -400...400 {
            let x = Float(step) / 20
            #expect(abs(Painting.sin(x) - Glibc.sinf(x)) < 4e-6)
            #expect(abs(Painting.cos(x) - Glibc.cosf(x)) < 4e-6)
            #expect(abs(Painting.exp(x) / Glibc.expf(x) - 1) < 2e-5)
            #expect(abs(Painting.atan2(x, 3) - Glibc.atan2f(x, 3)) < 4e-6)
            #expect(abs(Painting.atan2(-2, x) - Glibc.atan2f(-2, x)) < 4e-6)
        }
        for step in 1...400 {
            let x = Float(step) / 50
            #expect(abs(Painting.log(x) - Glibc.logf(x)) < 4e-6)
            #expect(abs(Painting.pow(x, 2.4) - Glibc.powf(x, 2.4)) < 2e-3)
        }
        #expect(Painting.pow(0, 2) == 0)
    }

    @Test func randomNumbersAreAlwaysTheSame() {
        // The first numbers that the authors of SplitMix64 give for this seed.
        var random = RandomSource(seed: 1_234_567)
        #expect(random.bits() == 6_457_827_717_110_365_317)
        #expect(random.bits() == 3_203_168_211_198_807_973)
        var seen: Set<Int> = []
        for _ in 0..<200 { seen.insert(random.below(5)) }
        #expect(seen == [0, 1, 2, 3, 4])
    }

    @Test func noiseDependsOnSeedAndPlaceAlone() {
        let place = Vec2(3.7, -12.2)
        #expect(Noise(4).at(place) == Noise(4).at(place))
        #expect(Noise(4).at(place) != Noise(5).at(place))
        #expect(Noise(4).at(Vec2(2, 9)) == 0, "gradient noise vanishes on its lattice")
        #expect(
            Noise(4).fractal(place, octaves: 3).bitPattern == Noise(4).fractal(place, octaves: 3).bitPattern)
    }

    @Test func noiseHasNoSteps() {
        let noise = Noise(8)
        for step in 0..<400 {
            let p = Vec2(Float(step) * 0.037 - 7, 2.3)
            #expect(abs(noise.at(p + Vec2(0.001, 0)) - noise.at(p)) < 0.02)
            #expect(abs(noise.at(p)) <= 1.6)
            let q = Vec3(p.x, p.y, 0.4)
            #expect(abs(noise.at(q + Vec3(0.001, 0, 0)) - noise.at(q)) < 0.02)
        }
    }

    @Test func cellsKnowTheirNearestPoint() {
        let noise = Noise(2)
        let cell = noise.cell(Vec2(5.3, 8.8))
        #expect(cell.distance <= cell.second)
        #expect(noise.cell(cell.centre).distance < 1e-6)
        #expect((0..<1).contains(cell.unit))
    }
}
