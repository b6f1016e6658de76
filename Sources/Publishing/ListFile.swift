import Glibc
import Model

/// The gallery's list on disk. The publisher replaces the file only when its contents change.
///
/// `write` compares the new text with the existing file. As long as both agree, the publisher writes nothing. At the
/// first difference, the publisher starts a new file, which replaces the old file at the end. So a run without changes
/// does not even change the file's date, and the publisher needs no record of the file's state.
final class ListFile {
    static let name = "gallery.xml"

    private let folder: OpenFolder
    /// The existing list; nil if there is none.
    private let old: Int32?
    /// The number of leading bytes that are equal in the old file and the new text.
    private var agreed: Int64 = 0
    private var new: NewFile?
    private var pending: [UInt8] = []

    private static let pieceSize = 1 << 16

    /// Opens the existing list. Throws an error if another program made the file.
    init(in folder: OpenFolder) throws(PublishingError) {
        self.folder = folder
        old = folder.file(Self.name)
        // Remove the file that a killed run left behind.
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

    /// Whether the folder already had a list.
    var isThere: Bool { old != nil }

    /// Appends text to the new list.
    func write(_ text: String) throws(PublishingError) {
        pending.append(contentsOf: text.utf8)
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// Ends the list, and returns whether it changed. If so, the new file has replaced the old file.
    func finish() throws(PublishingError) -> Bool {
        try flush()
        var status = stat()
        if new == nil {
            // The old list may be longer than the new one.
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

    /// Creates the new file, and copies the equal leading bytes into it.
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

/// The parts of a list's text: beginning, photos and end.
enum ListText {
    /// The first bytes of every list that Vitrine makes, in this version and all later versions.
    static let mark = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by vitrine publish"
    static let beginning = mark + ", which writes it anew when photos have changed. -->\n<album>\n"
    static let end = "</album>\n"
    /// The name of the folder with the thumbnails, beside the list.
    static let thumbnails = "thumbnails"

    static func text(of photo: PublishedPhoto, at reference: String) -> String {
        """
          <photo name="\(escaped(photo.name))" date="\(photo.date.iso8601)" id="\(reference)">
            <image kind="image" srcURL="\(reference)"/>
            <image kind="thumbnail" srcURL="\(thumbnails)/\(photo.thumbnail.text)"/>
          </photo>

        """
    }

    /// Escapes text for an XML attribute.
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
