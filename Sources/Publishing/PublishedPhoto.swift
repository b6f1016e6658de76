import Glibc
import Model

/// What the list says of a photo, and what was made for it.
struct PublishedPhoto: Hashable, Sendable {
    var name: String
    var date: Timestamp
    /// How often it has changed since it was first published.
    var revision: Int
    /// Whether the file ends before the picture does.
    var isCutShort: Bool
    var thumbnail: ThumbnailName
    /// The bytes of its thumbnail's file.
    var thumbnailSize: Int64
}

/// Where a photo lies in its folder: `summer/Lake #2.jpg`.
struct PhotoPath: Hashable, Sendable {
    /// As the file system has it, relative to the folder.
    let text: String

    /// As an address has it, relative to that of the list: `summer/Lake%20%232.jpg`. It is the photo's id too.
    ///
    /// As an id it is as stable as the file's place, since it depends on nothing else, and no two photos share one: it can be
    /// read back, so different paths have different ones. It is plain ASCII, and so cannot be taken for another that looks the
    /// same, as an accent can be that is part of its letter here and follows it there.
    ///
    /// Everything is escaped but what RFC 3986 leaves to itself in every place (section 2.3): a colon would make a scheme of
    /// the first word.
    let reference: String

    init(_ text: String) {
        self.text = text
        reference = Self.escaped(text, keepingSlashes: true)
    }

    /// The file's name without what follows its last dot.
    var stem: String {
        let name = text[(text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex)...]
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    /// Whether the reader of galleries takes such an id, and such an address.
    var canBePublished: Bool { reference.utf8.count <= Self.longest }

    private static let longest = 4_096

    /// Nothing but letters, digits and `-._~` and escapes.
    static func escaped(_ text: String, keepingSlashes: Bool = false) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
}

/// What a photo is called in the gallery: its title, else its file's name.
enum PhotoName {
    /// The first of both that says anything, made fit for a list.
    static func text(title: String?, path: PhotoPath) -> String {
        let candidates = [title.map(clean), clean(path.stem), clean(path.text)]
        return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? path.reference
    }

    /// One line without control characters. XML could not even hold them (XML 1.0, section 2.2), and who reads the list is to
    /// be spared the rest. What breaks a line becomes a space; the others become what pictures them, so that it shows that
    /// something was there.
    private static func clean(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09...0x0D, 0x85, 0x2028, 0x2029: clean.append(" ")
            case 0x00...0x1F: clean.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: clean.append("\u{2421}")
            case 0x80...0x9F, 0xFFFE, 0xFFFF: clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        let start = clean.firstIndex { $0 != " " } ?? clean.endIndex
        guard let last = clean.lastIndex(where: { $0 != " " }) else { return "" }
        return String(clean[start...last])
    }
}

/// When a photo was taken, as far as that is known.
enum PhotoDate {
    /// The camera's time, else when the file was modified; always a date that a list can hold.
    ///
    /// - Parameters:
    ///   - takenAt: by the camera's clock, which shows the time of some place and does not say of which:
    ///     "2006-07-30T07:47:17". It is taken for the time of the zone that this machine is in.
    ///   - revision: how often the photo has changed since it was first published. Who has an older edition of a photo fetches
    ///     the new one when its date is another; but what a camera wrote does not change when a photo is retouched. So each
    ///     revision is a thousandth of a second later than the one before, which moves it past no other.
    static func moment(takenAt: String?, modified: FileStamp, revision: Int) -> Timestamp {
        var moment = takenAt.flatMap(local) ?? Timestamp(milliseconds: clamped(modified.seconds) * 1_000)
        moment.milliseconds += Int64(revision % 1_000)
        return moment
    }

    /// A moment by the clocks of this machine's zone, summer time included.
    private static func local(_ text: String) -> Timestamp? {
        guard let asUTC = Timestamp(iso8601: text + "Z") else { return nil }
        var seconds = time_t(asUTC.seconds)
        var fields = tm()
        guard gmtime_r(&seconds, &fields) != nil else { return nil }
        // Whether it was summer is for the system to find out.
        fields.tm_isdst = -1
        let moment = mktime(&fields)
        return Timestamp(milliseconds: clamped(Int64(moment)) * 1_000)
    }

    /// Years have four digits in a list.
    private static func clamped(_ seconds: Int64) -> Int64 { max(firstSecond, min(lastSecond, seconds)) }

    /// 0001-01-01T00:00:00Z and 9999-12-31T23:59:58Z.
    private static let firstSecond: Int64 = -62_135_596_800
    private static let lastSecond: Int64 = 253_402_300_798
}
