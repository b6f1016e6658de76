import Model
import Text

/// A file name made from a photo's title.
///
///     ExportName(photo, .jpeg).text        // "Lake.jpg"
///
/// Titles come from strangers and may contain paths, terminal commands or hidden-file names. The result is always a
/// single visible name.
struct ExportName: Hashable {
    private let stem: String
    private let ending: String

    /// The longest file name without its ending, in bytes. File systems allow 255 bytes; the rest is for the ending and a
    /// number.
    private static let longest = 180

    /// Makes a file name from the photo's title.
    ///
    /// - Parameter format: the file's actual format, which may contradict the title.
    init(_ photo: Photo, _ format: PictureSignature?) {
        let endings = format?.endings ?? []
        let title = Self.harmless(photo.name)
        let own = endings.first { title.lowercased().hasSuffix("." + $0) && title.count > $0.count + 1 }
        // Raw files and TIFFs have the same format, and a list may give a photo a title without an ending.
        let listed = endings.first { photo.galleryID.lowercased().hasSuffix("." + $0) }
        let bare = own.map { String(title.dropLast($0.count + 1)) } ?? title
        let stem = Self.harmless(bare.isEmpty ? photo.galleryID : bare)
        self.stem = Self.cut(stem.isEmpty ? "photo" : stem)
        ending =
            own.map { title.suffix($0.count + 1) }.map(String.init) ?? (listed ?? endings.first).map { "." + $0 } ?? ""
    }

    private init(stem: String, ending: String) { (self.stem, self.ending) = (stem, ending) }

    /// The file name.
    var text: String { stem + ending }

    /// The name in lower case, for comparisons, because some file systems ignore case.
    var folded: String { text.lowercased() }

    /// Returns the name with a number, for another photo with the same title.
    func numbered(_ number: Int) -> ExportName { ExportName(stem: "\(stem) (\(number))", ending: ending) }

    private static func harmless(_ text: String) -> String {
        var name = text.madeVisible.map { $0 == "/" ? "_" : $0 }
        while name.last == " " || name.last == "." { name.removeLast() }
        while name.first == " " { name.removeFirst() }
        // A leading dot would hide the file; a leading dash would make it an option of a command.
        if name.first == "." || name.first == "-" { name[0] = "_" }
        return String(name)
    }

    private static func cut(_ text: String) -> String {
        var size = 0
        return String(
            text.prefix { character in
                size += character.utf8.count
                return size <= longest
            })
    }
}

extension PictureSignature {
    /// The file name endings of the format, the usual ending first.
    fileprivate var endings: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg", "jpe", "jfif", "mpo"]
        case .png: ["png"]
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .tiff: ["tif", "tiff", "arw", "cr2", "dng", "nef", "nrw", "pef", "srw"]
        case .heif: ["heic", "heif", "avif"]
        case .bmp: ["bmp", "dib"]
        case .netpbm: ["pnm", "pbm", "pgm", "ppm", "pam"]
        case .qoi: ["qoi"]
        case .jxl: ["jxl"]
        case .raf: ["raf"]
        case .cr3: ["cr3"]
        case .orf: ["orf"]
        case .rw2: ["rw2"]
        }
    }
}
