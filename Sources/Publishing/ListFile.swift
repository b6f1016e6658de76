import Glibc
import Model

/// The gallery's list on the disk, written only if it comes out another than it was.
///
/// What is written is held against what is there. As long as they agree nothing is touched; from the first difference on a
/// new file is written, which takes the old one's place at the end, whole. So a run that finds nothing new leaves not even
/// another date behind, and nobody has to remember whether the file is still as he left it.
final class ListFile {
    static let name = "gallery.xml"

    private let folder: OpenFolder
    /// What is there; nil if nothing is.
    private let old: Int32?
    /// How much of it agrees.
    private var agreed: Int64 = 0
    private var new: NewFile?
    private var pending: [UInt8] = []

    private static let pieceSize = 1 << 16

    /// Opens what is there. One that was not made here is not touched.
    init(in folder: OpenFolder) throws(PublishingError) {
        self.folder = folder
        old = folder.file(Self.name)
        // Of an earlier run that was killed.
        folder.remove(NewFile.prefix + Self.name)
        if let old {
            guard Self.isOurs(old) else { throw .notOurs(path: folder.path(Self.name)) }
        } else if folder.status(Self.name) != nil {
            throw .notOurs(path: folder.path(Self.name))
        }
    }

    deinit {
        if let old { close(old) }
    }

    /// Whether there was a list before.
    var isThere: Bool { old != nil }

    /// Writes more of it.
    func write(_ text: String) throws(PublishingError) {
        pending.append(contentsOf: text.utf8)
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// Ends it. Returns whether it came out another than it was, and took its place.
    func finish() throws(PublishingError) -> Bool {
        try flush()
        var status = stat()
        if new == nil {
            // It may be but the beginning of what was there.
            if let old, fstat(old, &status) == 0, Int64(status.st_size) == agreed { return false }
            new = try begin()
        }
        try new?.take(Self.name, mode: folder.fileMode, syncing: true)
        return true
    }

    private func flush() throws(PublishingError) {
        defer { pending.removeAll(keepingCapacity: true) }
        if new == nil {
            if old?.holds(pending, at: agreed) == true {
                agreed += Int64(pending.count)
                return
            }
            new = try begin()
        }
        try new?.write(pending)
    }

    /// A new file, with what has been found to agree.
    private func begin() throws(PublishingError) -> NewFile {
        let new = try NewFile(in: folder, for: Self.name)
        guard let old else { return new }
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        var copied: Int64 = 0
        while copied < agreed {
            let wanted = min(Int64(piece.count), agreed - copied)
            let count = piece.withUnsafeMutableBytes {
                old.readAll(at: copied, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(wanted)]))
            }
            guard count == wanted else { throw .failed(folder.path(Self.name)) }
            try new.write(piece[..<count])
            copied += wanted
        }
        return new
    }

    private static func isOurs(_ file: Int32) -> Bool {
        var head = [UInt8](repeating: 0, count: ListText.mark.utf8.count)
        return head.withUnsafeMutableBytes { file.readAll(at: 0, into: $0) } == head.count
            && head.elementsEqual(ListText.mark.utf8)
    }
}

/// A gallery's list as it is written: the beginning, a photo, the end.
enum ListText {
    /// What every list of ours begins with, in this edition and in all that follow.
    static let mark = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by vitrine publish"
    static let beginning = mark + ", which writes it anew when photos have changed. -->\n<album>\n"
    static let end = "</album>\n"
    /// The folder of thumbnails, beside the list.
    static let thumbnails = "thumbnails"

    static func text(of photo: PublishedPhoto, at reference: String) -> String {
        """
          <photo name="\(escaped(photo.name))" date="\(photo.date.iso8601)" id="\(reference)">
            <image kind="image" srcURL="\(reference)"/>
            <image kind="thumbnail" srcURL="\(thumbnails)/\(photo.thumbnail.text)"/>
          </photo>

        """
    }

    /// Text as an attribute's value.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
