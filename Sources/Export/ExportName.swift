import Model
import Text

/// The name of a photo's file among the user's own: its title, as far as that may be a name.
///
///     ExportName(photo, .jpeg).text        // "Lake.jpg"
///
/// A title comes from outside and may be anything: a path, a command for a terminal, a name that hides. What is left of it
/// is one visible name of this folder.
struct ExportName: Hashable {
    private let stem: String
    private let ending: String

    /// Bytes that a stem may have. File systems allow names of 255; an ending and a number are to fit in as well.
    private static let longest = 180

    /// - Parameter format: what the file is, whatever the title says.
    init(_ photo: Photo, _ format: PictureSignature?) {
        let endings = format?.endings ?? []
        let title = Self.harmless(photo.name)
        let own = endings.first { title.lowercased().hasSuffix("." + $0) && title.count > $0.count + 1 }
        let bare = own.map { String(title.dropLast($0.count + 1)) } ?? title
        let stem = Self.harmless(bare.isEmpty ? photo.galleryID : bare)
        self.stem = Self.cut(stem.isEmpty ? "photo" : stem)
        ending = own.map { title.suffix($0.count + 1) }.map(String.init) ?? endings.first.map { "." + $0 } ?? ""
    }

    private init(stem: String, ending: String) { (self.stem, self.ending) = (stem, ending) }

    /// The name.
    var text: String { stem + ending }

    /// What names are told apart by: there are file systems that take capitals for small letters.
    var folded: String { text.lowercased() }

    /// The same with a number, for another photo of that title.
    func numbered(_ number: Int) -> ExportName { ExportName(stem: "\(stem) (\(number))", ending: ending) }

    private static func harmless(_ text: String) -> String {
        var name = text.madeVisible.map { $0 == "/" ? "_" : $0 }
        while name.last == " " || name.last == "." { name.removeLast() }
        while name.first == " " { name.removeFirst() }
        // What begins with a dot is not listed, and with a dash it is an option of the next command.
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
    /// What such files are called, the usual first.
    fileprivate var endings: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg", "jpe"]
        case .png: ["png"]
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .tiff: ["tif", "tiff"]
        case .heif: ["heic", "heif", "avif"]
        }
    }
}
