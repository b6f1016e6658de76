/// Converts international host names for lookup and for display.
///
///     HostName.ascii("münchen.example")          // "xn--mnchen-3ya.example"
///     HostName.shown("xn--mnchen-3ya.example")   // "münchen.example"
///     HostName.shown("xn--pple-43d.com")         // "xn--pple-43d.com (аpple.com)": that а is Cyrillic
public enum HostName {
    private static let mark = "xn--"

    /// Returns the host name in lower-case ASCII for lookup. Returns nil if the name is invalid.
    ///
    /// The function allows the letters of IDNA 2008 (RFC 5892). It maps capitals, full-width letters and ideographic
    /// full stops, but none of the other characters that IDNA maps. Latin, Greek, Cyrillic and Japanese letters with
    /// combining marks become single characters where Unicode has them.
    public static func ascii(_ host: String) -> String? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host.lowercased() }
        var plain = String.UnicodeScalarView()
        for scalar in host.unicodeScalars {
            switch scalar.value {
            case 0xFF01...0xFF5E: plain.append(Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar)
            case 0x3002, 0xFF61: plain.append(".")
            default: plain.append(scalar)
            }
        }
        var labels: [String] = []
        for label in String(plain).lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard let ascii = ascii(label: label) else { return nil }
            labels.append(ascii)
        }
        return labels.joined(separator: ".")
    }

    private static func ascii(label: Substring) -> String? {
        guard !label.utf8.allSatisfy({ $0 < 0x80 }) else { return String(label) }
        let scalars = label.flatMap { character -> [Unicode.Scalar] in
            let scalars = Array(character.unicodeScalars)
            return scalars.count > 1 ? composed[character].map { [$0] } ?? scalars : scalars
        }
        guard scalars.allSatisfy(isAllowed), let first = scalars.first, !isMark(first),
            let encoded = Punycode.encode(scalars), (mark + encoded).utf8.count <= 63
        else { return nil }
        return mark + encoded
    }

    /// The scalars of composed letters such as `ü`. A lookup also finds a letter with separate combining marks, because
    /// Swift treats both spellings as equal.
    private static let composed: [Character: Unicode.Scalar] = {
        let ranges: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x4FF, 0x1E00...0x1FFF, 0x3041...0x30FF]
        let scalars = ranges.joined().compactMap(Unicode.Scalar.init)
        return Dictionary(scalars.map { (Character($0), $0) }, uniquingKeysWith: { first, _ in first })
    }()

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x5F, 0x30...0x39, 0x61...0x7A: return true
        // Exceptions of RFC 5892, section 2.6; and Hangul letters that are not syllables, section 2.9.
        case 0xDF, 0x3C2, 0xB7, 0x375, 0x5F3, 0x5F4, 0x3007, 0x30FB: return true
        case 0...0x7F, 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF: return false
        default: break
        }
        let properties = scalar.properties
        let isLetter: Bool =
            switch properties.generalCategory {
            case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: true
            default: false
            }
        return isLetter && !properties.isDefaultIgnorableCodePoint && !properties.changesWhenNFKCCaseFolded
    }

    /// Returns the readable form of a host name. A scheme and a port stay unchanged.
    ///
    /// If the name could be mistaken for another, the ASCII form comes first and the readable form follows in
    /// parentheses. The result is untrusted text: apply `madeVisible` before display.
    public static func shown(_ name: String) -> String {
        guard name.contains(mark) || !name.utf8.allSatisfy({ $0 < 0x80 }) else { return name }
        if let scheme = name.firstRange(of: "://") {
            return name[..<scheme.upperBound] + shown(String(name[scheme.upperBound...]))
        }
        let end = name.lastIndex(of: ":") ?? name.endIndex
        guard let host = ascii(String(name[..<end])) else { return name }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false).map { label -> String in
            guard label.hasPrefix(mark), let decoded = Punycode.decode(label.dropFirst(mark.count)),
                ascii(label: decoded[...]) == String(label)
            else { return String(label) }
            return decoded
        }
        let shownName = labels.joined(separator: ".")
        guard shownName != host else { return host + name[end...] }
        return (isMisleading(labels) ? "\(host) (\(shownName))" : shownName) + name[end...]
    }

    /// Whether a name could be mistaken for another. The top-level label determines the expected script.
    private static func isMisleading(_ labels: [String]) -> Bool {
        let top = labels.last { !$0.isEmpty } ?? ""
        let isLatin = top.utf8.allSatisfy { $0 < 0x80 }
        return labels.contains { isMisleading(Array($0.unicodeScalars), isLatin: isLatin) }
    }

    private static func isMisleading(_ label: [Unicode.Scalar], isLatin: Bool) -> Bool {
        guard label.contains(where: { !$0.isASCII }) else { return false }
        let letters = label.filter { !("0"..."9").contains($0) && $0 != "-" && $0 != "_" }
        var scripts: Set<Script> = []
        for letter in letters {
            guard let script = Script(letter) else { return true }
            scripts.insert(script)
        }
        guard scripts.count == 1 || Script.together.contains(where: { $0.isSuperset(of: scripts) }) else { return true }
        for (one, next) in zip(label, label.dropFirst()) {
            if Script.likeMarks.contains(one) && next.isASCII || one.isASCII && Script.likeMarks.contains(next) {
                return true
            }
        }
        guard isLatin, scripts.count == 1, let script = scripts.first, let like = Script.likeLatin[script] else {
            return false
        }
        return letters.allSatisfy { like.contains($0) }
    }
}

/// Punycode, the encoding of host name labels in ASCII (RFC 3492), without the `xn--` prefix.
enum Punycode {
    private static let (base, least, most, skew, damp): (UInt32, UInt32, UInt32, UInt32, UInt32) = (36, 1, 26, 38, 700)
    private static let (firstBias, firstScalar): (UInt32, UInt32) = (72, 128)
    /// The maximum length of a label in characters. Longer labels could overflow the sums in this type.
    private static let longest = 63

    /// Returns the ASCII form of a label. Returns nil if the label is too long.
    static func encode(_ label: some Sequence<Unicode.Scalar>) -> String? {
        let scalars = label.map(\.value)
        guard scalars.count <= longest else { return nil }
        var output = scalars.filter { $0 < firstScalar }
        let plain = UInt32(output.count)
        var (done, bias, next, delta) = (plain, firstBias, firstScalar, UInt32(0))
        if plain > 0 { output.append(0x2D) }
        while done < scalars.count {
            // `delta` is at most 0x10FFFF times 64, so it does not overflow.
            guard let smallest = scalars.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (done + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                var (rest, step) = (delta, base)
                while rest >= threshold(step, bias) {
                    let limit = threshold(step, bias)
                    output.append(digit(limit + (rest - limit) % (base - limit)))
                    rest = (rest - limit) / (base - limit)
                    step += base
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

    /// Decodes the ASCII form of a label. Returns nil if the form is invalid.
    static func decode(_ text: some StringProtocol) -> String? {
        let bytes = text.utf8.map(UInt32.init)
        guard bytes.count <= longest, bytes.allSatisfy({ $0 < firstScalar }) else { return nil }
        let mark = bytes.lastIndex(of: 0x2D)
        var output = Array(bytes[..<(mark ?? 0)])
        var rest = bytes[(mark.map { $0 + 1 } ?? 0)...]
        var (bias, next, index) = (firstBias, firstScalar, UInt32(0))
        while !rest.isEmpty {
            let (before, count) = (index, UInt32(output.count) + 1)
            var (weight, step) = (UInt32(1), base)
            while true {
                guard let byte = rest.popFirst(), let digit = value(of: byte) else { return nil }
                let product = digit.multipliedReportingOverflow(by: weight)
                let sum = index.addingReportingOverflow(product.partialValue)
                guard !product.overflow, !sum.overflow else { return nil }
                index = sum.partialValue
                let limit = threshold(step, bias)
                if digit < limit { break }
                let wider = weight.multipliedReportingOverflow(by: base - limit)
                guard !wider.overflow else { return nil }
                weight = wider.partialValue
                step += base
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

    private static func threshold(_ step: UInt32, _ bias: UInt32) -> UInt32 {
        step <= bias ? least : min(step - bias, most)
    }

    /// Returns the bias for the next scalar (RFC 3492, section 6.1).
    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var (delta, step) = (isFirst ? delta / damp : delta / 2, UInt32(0))
        delta += delta / count
        while delta > (base - least) * most / 2 {
            delta /= base - least
            step += base
        }
        return step + (base - least + 1) * delta / (delta + skew)
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

/// A writing system. A mixture of scripts reveals misleading host names.
///
/// The Unicode block of a character determines its script. A character outside the known blocks has no script, and a
/// name with such a character counts as misleading.
enum Script: Hashable {
    case latin, greek, cyrillic, armenian, hebrew, arabic, devanagari, bengali, gurmukhi, gujarati, oriya, tamil, telugu
    case kannada, malayalam, sinhala, thai, lao, tibetan, myanmar, georgian, ethiopic, khmer
    case han, hiragana, katakana, bopomofo, hangul

    init?(_ scalar: Unicode.Scalar) {
        guard !Self.likeASCII.contains(scalar), let entry = Self.blocks.first(where: { $0.0.contains(scalar.value) })
        else { return nil }
        self = entry.1
    }

    /// Latin letters that look like ASCII letters or signs.
    private static let likeASCII: Set<Unicode.Scalar> = ["ı", "ȷ", "ƨ", "ƅ", "ƽ", "ǃ", "ǀ", "ǁ", "ǂ"]

    private static let blocks: [(ClosedRange<UInt32>, Script)] = [
        (0x41...0x5A, .latin), (0x61...0x7A, .latin), (0xB7...0xB7, .latin), (0xC0...0x24F, .latin),
        (0x1E00...0x1EFF, .latin), (0x370...0x3FF, .greek), (0x1F00...0x1FFF, .greek), (0x400...0x52F, .cyrillic),
        (0x530...0x58F, .armenian), (0x590...0x5FF, .hebrew), (0x600...0x6FF, .arabic), (0x750...0x77F, .arabic),
        (0x8A0...0x8FF, .arabic), (0x900...0x97F, .devanagari), (0x980...0x9FF, .bengali), (0xA00...0xA7F, .gurmukhi),
        (0xA80...0xAFF, .gujarati), (0xB00...0xB7F, .oriya), (0xB80...0xBFF, .tamil), (0xC00...0xC7F, .telugu),
        (0xC80...0xCFF, .kannada), (0xD00...0xD7F, .malayalam), (0xD80...0xDFF, .sinhala), (0xE00...0xE7F, .thai),
        (0xE80...0xEFF, .lao), (0xF00...0xFFF, .tibetan), (0x1000...0x109F, .myanmar), (0x10A0...0x10FF, .georgian),
        (0x1200...0x139F, .ethiopic), (0x1780...0x17FF, .khmer), (0x3005...0x3007, .han), (0x3041...0x309F, .hiragana),
        (0x30A0...0x30FF, .katakana), (0x31F0...0x31FF, .katakana), (0x3105...0x312F, .bopomofo),
        (0x31A0...0x31BF, .bopomofo), (0x3400...0x4DBF, .han), (0x4E00...0x9FFF, .han), (0xAC00...0xD7A3, .hangul),
        (0x20000...0x3FFFF, .han),
    ]

    /// Scripts that names may combine: the "highly restrictive" level of UTS 39, section 5.2.
    static let together: [Set<Script>] = [
        [.latin, .han, .hiragana, .katakana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
    ]

    /// Letters that look Latin, by script. A label of only these letters is misleading.
    static let likeLatin: [Script: Set<Unicode.Scalar>] = [
        .cyrillic: Set("асԁеғһіјкӏмнорԛѕтԝхуьѵѡвгпҽԗъ".unicodeScalars),
        .greek: Set("αβγεηικνοπρστυωχ".unicodeScalars),
    ]

    /// Characters that look like a dash, a dot or a stroke next to ASCII.
    static let likeMarks: Set<Unicode.Scalar> = ["一", "丨", "丶", "丿", "ノ", "ー", "〇", "・", "·"]
}
