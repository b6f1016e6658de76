import Glibc

/// How a colour profile's numbers for one channel become light: a table, or a formula with up to seven numbers.
enum ToneCurve {
    /// Light at evenly spaced numbers, 0…1; at least two.
    case table([Double])
    /// "Y = (aX + b)^g + e for X ≥ d, Y = cX + f for X < d" (ICC.1, 10.18), which the simpler formulas are cases of.
    case formula(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)

    /// sRGB's own.
    static let sRGB = ToneCurve.formula(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0)

    /// Reads an element of type "curv" or "para"; nothing for what is neither, or ends early.
    init?(_ element: ICCProfile.Element) {
        if element.type == ICCProfile.signature("curv") {
            self.init(table: element)
        } else if element.type == ICCProfile.signature("para") {
            self.init(formula: element)
        } else {
            return nil
        }
    }

    /// Light for a number 0…1, in the same bounds; nothing where the formula has no answer.
    func light(_ number: Double) -> Double? {
        let light: Double
        switch self {
        case .table(let values):
            let place = number * Double(values.count - 1)
            let index = min(Int(place), values.count - 2)
            light = values[index] + (values[index + 1] - values[index]) * (place - Double(index))
        case .formula(let g, let a, let b, let c, let d, let e, let f):
            light = number >= d ? pow(max(0, a * number + b), g) + e : c * number + f
        }
        return light.isFinite ? max(0, min(light, 1)) : nil
    }

    private static func power(_ gamma: Double) -> ToneCurve {
        .formula(g: gamma, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0)
    }

    /// "If count is 0 the curve is an identity; if 1, the value is a gamma as u8Fixed8Number" (ICC.1, 10.6).
    private init?(table element: ICCProfile.Element) {
        guard let count = element.number(at: 8) else { return nil }
        switch count {
        case 0: self = .power(1)
        case 1:
            guard let gamma = element.short(at: 12) else { return nil }
            self = .power(Double(gamma) / 256)
        default:
            guard count <= 65_536, element.short(at: 12 + 2 * (count - 1)) != nil else { return nil }
            self = .table((0..<count).map { Double(element.short(at: 12 + 2 * $0) ?? 0) / 65_535 })
        }
    }

    private init?(formula element: ICCProfile.Element) {
        guard let kind = element.short(at: 8), kind <= 4 else { return nil }
        let count = [1, 3, 4, 5, 7][kind]
        let numbers = (0..<count).compactMap { element.fixed(at: 12 + 4 * $0) }
        guard numbers.count == count else { return nil }
        let g = numbers[0]
        guard kind > 0 else {
            self = .power(g)
            return
        }
        let (a, b) = (numbers[1], numbers[2])
        // Below it the first two formulas are constant.
        let foot = a != 0 ? -b / a : 0
        switch kind {
        case 1: self = .formula(g: g, a: a, b: b, c: 0, d: foot, e: 0, f: 0)
        case 2: self = .formula(g: g, a: a, b: b, c: 0, d: foot, e: numbers[3], f: numbers[3])
        case 3: self = .formula(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: 0, f: 0)
        default:
            self = .formula(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: numbers[5], f: numbers[6])
        }
    }
}
