/// Names of hosts in all letters: as they are asked for, and as they are shown.
///
///     HostName.ascii("münchen.example")          // "xn--mnchen-3ya.example"
///     HostName.shown("xn--mnchen-3ya.example")   // "münchen.example"
///     HostName.shown("xn--pple-43d.com")         // "xn--pple-43d.com (аpple.com)": that а is Cyrillic
public enum HostName {
    private static let mark = "xn--"

    /// The name in ASCII and lower case, which is what is looked up; nil if there is no such name.
    ///
    /// Letters are taken as IDNA 2008 allows them (RFC 5892). Of those that it maps to others, only capitals, full-width letters
    /// and ideographic full stops are taken. A combining mark is put together with its letter where Unicode has both in one.
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

    /// Letters with their marks, in one. A character finds itself here however it is written.
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
        // RFC 5892, section 2.6, exceptions; and letters of Hangul that make no syllable, section 2.9.
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

    /// The name as people read it, with its scheme and its port if it has them.
    ///
    /// If it could be taken for another name, its ASCII form comes first, and the other stands behind it in parentheses. It is
    /// a stranger's word all the same: it is to be made visible before it is shown.
    public static func shown(_ place: String) -> String {
        guard place.contains(mark) || !place.utf8.allSatisfy({ $0 < 0x80 }) else { return place }
        if let scheme = place.firstRange(of: "://") {
            return place[..<scheme.upperBound] + shown(String(place[scheme.upperBound...]))
        }
        let end = place.lastIndex(of: ":") ?? place.endIndex
        guard let host = ascii(String(place[..<end])) else { return place }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false).map { label -> String in
            guard label.hasPrefix(mark), let decoded = Punycode.decode(label.dropFirst(mark.count)),
                ascii(label: decoded[...]) == String(label)
            else { return String(label) }
            return decoded
        }
        let name = labels.joined(separator: ".")
        guard name != host else { return host + place[end...] }
        return (isMisleading(labels) ? "\(host) (\(name))" : name) + place[end...]
    }

    /// Whether a name may be taken for another. Its top label says whose letters are to be expected in it.
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
