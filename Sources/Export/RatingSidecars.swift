import Cache
import Concurrency
import Files
import Glibc
import Model

/// Writes the ratings of local photos to XMP files beside the photos.
///
///     let report = try await RatingSidecars(of: cache, mask: mask).write(keys)
///
/// Other programs can read these files. The file of `lake.jpg` is `lake.jpg.xmp`, as in darktable and digiKam. In a
/// file of another program, only the rating changes.
public actor RatingSidecars {
    /// The totals of a run.
    public struct Report: Equatable, Sendable {
        /// The number of new and changed files.
        public fileprivate(set) var written = 0
        /// The number of photos that needed no change. These photos have no rating, or their file already had the
        /// rating.
        public fileprivate(set) var unchanged = 0
        /// The number of photos that are not in a local folder.
        public fileprivate(set) var elsewhere = 0
        /// The first error.
        public fileprivate(set) var failure: ExportError?
        /// The number of photos that failed.
        public fileprivate(set) var failed = 0
    }

    private let cache: GalleryCache
    private let mask: CreationMask
    /// The folders in which this run has removed the leftovers of killed programs.
    private var swept: Set<String> = []
    private let executor = QueueExecutor(label: "vitrine.ratings")

    /// The maximum number of bytes of an existing file. Photo editors that store masks and histories write large files.
    private static let largest = 8 << 20

    /// The actor's own queue, because reading and writing files blocks a thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Prepares to write the ratings of a gallery's photos.
    ///
    /// - Parameter mask: the permissions of new files.
    public init(of cache: GalleryCache, mask: CreationMask) {
        (self.cache, self.mask) = (cache, mask)
    }

    /// Writes the ratings of photos. After an error, continues with the next photo. A cancelled run stops after the
    /// current file.
    public func write(_ keys: [PhotoKey]) throws -> Report {
        var report = Report()
        for key in keys where !Task.isCancelled {
            let found = try cache.read { reader in
                (
                    photo: try reader.photo(key), address: try reader.source(of: key, .original)?.address,
                    own: try reader.ownRating(of: key)
                )
            }
            // Write only beside photos of a local gallery: the list of a server may name any file of this machine.
            guard let photo = found.photo, let address = found.address, cache.files.isInPlace(address),
                let path = address.filePathBytes
            else {
                report.elsewhere += 1
                continue
            }
            // The file of a photo without a rating may have a rating by another program, which stays. If the user chose
            // no stars, the file gets 0.
            guard photo.rating != .none || found.own != nil else {
                report.unchanged += 1
                continue
            }
            do throws(ExportError) {
                if try write(photo.rating, beside: address, path) {
                    report.written += 1
                } else {
                    report.unchanged += 1
                }
            } catch {
                report.failed += 1
                report.failure = report.failure ?? error
            }
        }
        return report
    }

    /// Writes the rating of the photo at an address, which has this path. Returns false if there was nothing to write.
    private func write(_ rating: Rating, beside photo: Address, _ path: [UInt8]) throws(ExportError) -> Bool {
        let text = String(decoding: path, as: UTF8.self)
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), text.utf8.elementsEqual(path) else {
            throw .file(path: text, reason: "its name is not UTF-8")
        }
        let name = text[text.index(after: slash)...] + ".xmp"
        do throws(SystemError) {
            // Another user may replace a folder by a link after the check of the photo.
            let folder = try cache.files.openFolder(ofOriginal: photo)
            defer { close(folder) }
            if swept.insert(String(text[...slash])).inserted { UnfinishedFile.sweep(folder) }
            let old = try Self.contents(of: String(name), in: folder)
            guard old != nil || rating != .none else { return false }
            guard let new = XMPRating(rating).text(in: old) else { throw SystemError(EBADMSG) }
            guard new != old else { return false }
            try replace(String(name), in: folder, with: new)
            return true
        } catch {
            throw .file(path: text + ".xmp", reason: Self.reason(error))
        }
    }

    private static func reason(_ error: SystemError) -> String {
        switch error.code {
        case EBADMSG: "it is not an XMP file in UTF-8"
        case ELOOP: "it is a link"
        default: error.description
        }
    }

    /// Reads a file. Returns nil if it is missing. Refuses links and pipes, so it never waits for another program.
    private static func contents(of name: String, in folder: Int32) throws(SystemError) -> String? {
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw SystemError(EBADMSG) }
        guard let text = String(validating: try SharedFile.bytes(file, atMost: largest), as: UTF8.self) else {
            throw SystemError(EBADMSG)
        }
        return text
    }

    private func replace(_ name: String, in folder: Int32, with text: String) throws(SystemError) {
        guard let file = try UnfinishedFile(.hidden, in: folder) else { throw SystemError(EOPNOTSUPP) }
        var status = stat()
        // A new file gets the permissions of the file that it replaces.
        let isOld = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isOld {
            fchmod(file.descriptor, status.st_mode & 0o777)
        } else if fstat(folder, &status) == 0 {
            fchmod(file.descriptor, mask.file(inFolder: status.st_mode))
        }
        try SharedFile.write(text, to: file.descriptor)
        try file.replace(name)
    }
}

/// The rating in the text of an XMP file.
struct XMPRating {
    private let value: String

    init(_ rating: Rating) { value = rating.text }

    /// The names of the rating's property. Old programs use the second name.
    private static let properties = ["xmp:Rating", "xap:Rating"]
    private static let namespace = "http://ns.adobe.com/xap/1.0/"

    /// Returns an XMP file's text with this rating, and otherwise unchanged. Returns nil if the old text is no XMP
    /// file.
    ///
    /// - Parameter old: the text of the present file; nil if there is none.
    func text(in old: String?) -> String? {
        guard let old else { return newText }
        guard let tags = XMPTag.all(in: old.utf8[...]) else { return nil }
        for property in Self.properties {
            for tag in tags {
                if let attribute = tag.attributes.first(where: { $0.name.elementsEqual(property.utf8) }) {
                    return old.replacingCharacters(attribute.value, value)
                }
                guard tag.name.elementsEqual(property.utf8) else { continue }
                let content = old.utf8[tag.end...].prefix { $0 != UInt8(ascii: "<") }
                guard old.utf8[content.endIndex...].starts(with: "</\(property)>".utf8) else { return nil }
                return old.replacingCharacters(content.startIndex..<content.endIndex, value)
            }
        }
        guard let tag = tags.first(where: { $0.name.elementsEqual("rdf:Description".utf8) }) else { return nil }
        // A namespace declaration holds for its element and the elements inside.
        let isDeclared = tag.attributes.contains { $0.name.elementsEqual("xmlns:xmp".utf8) }
        let declaration = isDeclared ? "" : " xmlns:xmp=\"\(Self.namespace)\""
        let place = tag.name.endIndex
        return old.replacingCharacters(place..<place, "\(declaration) xmp:Rating=\"\(value)\"")
    }

    private var newText: String {
        """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about="" xmlns:xmp="\(Self.namespace)" xmp:Rating="\(value)"/>
         </rdf:RDF>
        </x:xmpmeta>
        <?xpacket end="w"?>

        """
    }
}

/// A start tag in the text of an XMP file.
private struct XMPTag {
    typealias Bytes = Substring.UTF8View

    let name: Bytes
    private(set) var attributes: [(name: Bytes, value: Range<String.Index>)] = []
    /// The index after the tag.
    let end: String.Index

    /// The beginnings and ends of comments, CDATA sections and processing instructions. Angle brackets and quotes
    /// inside these parts have no meaning.
    private static let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]

    /// Returns the start tags of a text. Returns nil if a tag is malformed.
    static func all(in text: Bytes) -> [XMPTag]? {
        var (tags, rest) = ([XMPTag](), text)
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if let end = skipped.first(where: { rest.starts(with: $0.0.utf8) })?.1 {
                guard let range = rest.firstRange(of: Array(end.utf8)) else { return nil }
                rest = rest[range.upperBound...]
                continue
            }
            rest = rest.dropFirst()
            guard let tag = XMPTag(rest) else { return nil }
            let isStart = tag.name.first != UInt8(ascii: "/") && tag.name.first != UInt8(ascii: "!")
            if isStart { tags.append(tag) }
            rest = rest[tag.end...]
        }
        return tags
    }

    /// Reads a tag from the text after its opening angle bracket. Returns nil if the tag is malformed.
    private init?(_ text: Bytes) {
        let isEnd = text.first == UInt8(ascii: "/")
        let word = text.dropFirst(isEnd ? 1 : 0).prefix { !Self.isSpace($0) && !"/><".utf8.contains($0) }
        guard !word.isEmpty else { return nil }
        name = text[..<word.endIndex]
        var rest = text[name.endIndex...]
        while true {
            rest = rest.drop { Self.isSpace($0) || $0 == UInt8(ascii: "/") }
            guard let first = rest.first else { return nil }
            guard first != UInt8(ascii: ">") else { break }
            let name = rest.prefix { !Self.isSpace($0) && !"=<>\"'".utf8.contains($0) }
            rest = rest[name.endIndex...].drop(while: Self.isSpace)
            guard rest.first == UInt8(ascii: "=") else { return nil }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
            let value = rest.dropFirst().prefix { $0 != quote && $0 != UInt8(ascii: "<") }
            rest = rest[value.endIndex...]
            guard rest.first == quote else { return nil }
            rest = rest.dropFirst()
            attributes.append((name, value.startIndex..<value.endIndex))
        }
        end = rest.index(after: rest.startIndex)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0D, 0x20].contains(byte) }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>, _ text: String) -> String {
        String(self[..<range.lowerBound] + text + self[range.upperBound...])
    }
}
