/// Whose letters a scalar belongs to, as far as that decides whether a host's name may mislead.
///
/// After the blocks of Unicode. A character in none of these belongs to no script here, and makes a name look like another one
/// for all that is known.
enum Script: Hashable {
    case latin, greek, cyrillic, armenian, hebrew, arabic, devanagari, bengali, gurmukhi, gujarati, oriya, tamil, telugu
    case kannada, malayalam, sinhala, thai, lao, tibetan, myanmar, georgian, ethiopic, khmer
    case han, hiragana, katakana, bopomofo, hangul

    init?(_ scalar: Unicode.Scalar) {
        guard !Self.likeASCII.contains(scalar), let entry = Self.blocks.first(where: { $0.0.contains(scalar.value) })
        else { return nil }
        self = entry.1
    }

    /// Letters of Latin that look like others of ASCII.
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

    /// Scripts that are written together: the "highly restrictive" level of UTS 39, section 5.2.
    static let together: [Set<Script>] = [
        [.latin, .han, .hiragana, .katakana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
    ]

    /// Letters that look like Latin ones, by script: a word of these alone reads like another one.
    static let likeLatin: [Script: Set<Unicode.Scalar>] = [
        .cyrillic: Set("асԁеғһіјкӏмнорԛѕтԝхуьѵѡвгпҽԗъ".unicodeScalars),
        .greek: Set("αβγεηικνοπρστυωχ".unicodeScalars),
    ]

    /// Signs that look like a dash, a dot or a stroke beside ASCII.
    static let likeMarks: Set<Unicode.Scalar> = ["一", "丨", "丶", "丿", "ノ", "ー", "〇", "・", "·"]
}
