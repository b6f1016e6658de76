/// Labels of host names in other letters than ASCII's, as they are written in ASCII (RFC 3492), without their `xn--`.
enum Punycode {
    private static let (base, least, most, skew, damp): (UInt32, UInt32, UInt32, UInt32, UInt32) = (36, 1, 26, 38, 700)
    private static let (firstBias, firstScalar): (UInt32, UInt32) = (72, 128)
    /// A name's label has 63 characters at most, which bounds every sum below.
    private static let longest = 63

    /// The ASCII form of a label; nil if that is too long for one.
    static func encode(_ label: some Sequence<Unicode.Scalar>) -> String? {
        let scalars = label.map(\.value)
        guard scalars.count <= longest else { return nil }
        var output = scalars.filter { $0 < firstScalar }
        let plain = UInt32(output.count)
        var (done, bias, next, delta) = (plain, firstBias, firstScalar, UInt32(0))
        if plain > 0 { output.append(0x2D) }
        while done < scalars.count {
            // At most 0x10FFFF times 64.
            guard let smallest = scalars.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (done + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                var (rest, place) = (delta, base)
                while rest >= threshold(place, bias) {
                    let limit = threshold(place, bias)
                    output.append(digit(limit + (rest - limit) % (base - limit)))
                    rest = (rest - limit) / (base - limit)
                    place += base
                }
                output.append(digit(rest))
                bias = adapted(delta, done + 1, isFirst: done == plain)
                (delta, done) = (0, done + 1)
            }
            delta += 1
            next += 1
        }
        guard output.count <= longest else { return nil }
        return String(decoding: output.map(UInt8.init), as: UTF8.self)
    }

    /// The label that an ASCII form stands for; nil if it is none.
    static func decode(_ text: some StringProtocol) -> String? {
        let bytes = text.utf8.map(UInt32.init)
        guard bytes.count <= longest, bytes.allSatisfy({ $0 < firstScalar }) else { return nil }
        let mark = bytes.lastIndex(of: 0x2D)
        var output = Array(bytes[..<(mark ?? 0)])
        var rest = bytes[(mark.map { $0 + 1 } ?? 0)...]
        var (bias, next, index) = (firstBias, firstScalar, UInt32(0))
        while !rest.isEmpty {
            let (before, count) = (index, UInt32(output.count) + 1)
            var (weight, place) = (UInt32(1), base)
            while true {
                guard let byte = rest.popFirst(), let digit = value(of: byte) else { return nil }
                let step = digit.multipliedReportingOverflow(by: weight)
                let sum = index.addingReportingOverflow(step.partialValue)
                guard !step.overflow, !sum.overflow else { return nil }
                index = sum.partialValue
                let limit = threshold(place, bias)
                if digit < limit { break }
                let wider = weight.multipliedReportingOverflow(by: base - limit)
                guard !wider.overflow else { return nil }
                weight = wider.partialValue
                place += base
            }
            bias = adapted(index - before, count, isFirst: before == 0)
            let scalar = next.addingReportingOverflow(index / count)
            guard !scalar.overflow, Unicode.Scalar(scalar.partialValue) != nil else { return nil }
            next = scalar.partialValue
            index %= count
            output.insert(next, at: Int(index))
            index += 1
        }
        var label = String.UnicodeScalarView()
        label.append(contentsOf: output.compactMap(Unicode.Scalar.init))
        return String(label)
    }

    private static func threshold(_ place: UInt32, _ bias: UInt32) -> UInt32 {
        place <= bias ? least : min(place - bias, most)
    }

    /// Section 6.1.
    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var (delta, place) = (isFirst ? delta / damp : delta / 2, UInt32(0))
        delta += delta / count
        while delta > (base - least) * most / 2 {
            delta /= base - least
            place += base
        }
        return place + (base - least + 1) * delta / (delta + skew)
    }

    private static func digit(_ value: UInt32) -> UInt32 { value < 26 ? 0x61 + value : 0x30 + value - 26 }

    private static func value(of byte: UInt32) -> UInt32? {
        switch byte {
        case 0x61...0x7A: byte - 0x61
        case 0x41...0x5A: byte - 0x41
        case 0x30...0x39: byte - 0x30 + 26
        default: nil
        }
    }
}
