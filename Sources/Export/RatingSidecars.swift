import Cache
import Concurrency
import Files
import Glibc
import Model

/// Writes ratings beside the photos of a local folder, as XMP files that other programs read.
///
///     let report = try await RatingSidecars(of: cache, mask: mask).write(keys)
///
/// The file of `lake.jpg` is `lake.jpg.xmp`, as in darktable and digiKam. In a file of another program, only the rating
/// changes.
public actor RatingSidecars {
    /// The totals of a run.
    public struct Report: Equatable, Sendable {
        /// The number of new and changed files.
        public fileprivate(set) var written = 0
        /// The number of photos without a rating, and of those whose file already had the rating.
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
    private let executor = QueueExecutor(label: "vitrine.ratings")

    /// The most bytes of a file to change. Programs with masks and histories write large ones.
    private static let largest = 8 << 20

    /// The actor's own queue, because it reads and writes files.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Prepares to write the ratings of a gallery's photos.
    ///
    /// - Parameter mask: the permissions of new files.
    public init(of cache: GalleryCache, mask: CreationMask) {
        (self.cache, self.mask) = (cache, mask)
    }

    /// Writes the ratings of photos. After an error, continues with the next photo.
    public func write(_ keys: [PhotoKey]) throws -> Report {
        var report = Report()
        for key in keys {
            let found = try cache.read { reader in
                (try reader.photo(key), try reader.source(of: key, .original)?.address)
            }
            guard let photo = found.0, let path = found.1?.filePathBytes else {
                report.elsewhere += 1
                continue
            }
            do throws(ExportError) {
                if try write(photo.rating, beside: path) { report.written += 1 } else { report.unchanged += 1 }
            } catch {
                report.failed += 1
                report.failure = report.failure ?? error
            }
        }
        return report
    }

    /// Writes the rating of the photo at a path. Returns false if nothing was to be written.
    private func write(_ rating: Rating, beside path: [UInt8]) throws(ExportError) -> Bool {
        let name = String(decoding: path, as: UTF8.self) + ".xmp"
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")),
            String(decoding: path, as: UTF8.self).utf8.elementsEqual(path)
        else { throw .file(path: name, reason: "its name is not UTF-8") }
        do throws(SystemError) {
            let folder = open(String(decoding: path[...slash], as: UTF8.self), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw SystemError() }
            defer { close(folder) }
            let old = try SharedFile.bytes(name, atMost: Self.largest).map { String(decoding: $0, as: UTF8.self) }
            guard old != nil || rating != .none else { return false }
            guard let new = XMPRating(rating).text(in: old) else { throw SystemError(EBADMSG) }
            guard new != old else { return false }
            try replace(String(decoding: path[(slash + 1)...], as: UTF8.self) + ".xmp", in: folder, with: new)
            return true
        } catch {
            throw .file(path: name, reason: error.code == EBADMSG ? "it is not an XMP file" : error.description)
        }
    }

    private func replace(_ name: String, in folder: Int32, with text: String) throws(SystemError) {
        guard let file = try UnfinishedFile(.hidden, in: folder) else { throw SystemError(EOPNOTSUPP) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw SystemError() }
        }
        var status = stat()
        // An older file keeps its permissions.
        let isOld = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isOld {
            fchmod(file.descriptor, status.st_mode & 0o777)
        } else if fstat(folder, &status) == 0 {
            fchmod(file.descriptor, mask.file(inFolder: status.st_mode))
        }
        guard fsync(file.descriptor) == 0 else { throw SystemError() }
        try file.replace(name)
    }
}

/// The rating in the text of an XMP file.
struct XMPRating {
    private let value: String

    init(_ rating: Rating) { value = rating.text }

    private static let property = "xmp:Rating"
    private static let namespace = "http://ns.adobe.com/xap/1.0/"

    /// Returns the text of a file with this rating, and otherwise as it was. Returns nil for a text that is no XMP file.
    ///
    /// - Parameter old: the text of the present file; nil if there is none.
    func text(in old: String?) -> String? {
        guard let old else { return newText }
        if let range = Self.attribute(in: old) ?? Self.element(in: old) { return old.replacingCharacters(range, value) }
        guard let tag = old.firstRange(of: "<rdf:Description") else { return nil }
        let declaration = old.contains("xmlns:xmp=") ? "" : " xmlns:xmp=\"\(Self.namespace)\""
        let attribute = "\(declaration) \(Self.property)=\"\(value)\""
        return old.replacingCharacters(tag.upperBound..<tag.upperBound, attribute)
    }

    private var newText: String {
        """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about="" xmlns:xmp="\(Self.namespace)" \(Self.property)="\(value)"/>
         </rdf:RDF>
        </x:xmpmeta>
        <?xpacket end="w"?>

        """
    }

    /// Returns the range of the value in `xmp:Rating="4"`.
    private static func attribute(in text: String) -> Range<String.Index>? {
        for quote in ["\"", "'"] {
            guard let start = text.firstRange(of: "\(property)=\(quote)")?.upperBound,
                let end = text[start...].firstRange(of: quote)?.lowerBound
            else { continue }
            return start..<end
        }
        return nil
    }

    /// Returns the range of the value in `<xmp:Rating>4</xmp:Rating>`.
    private static func element(in text: String) -> Range<String.Index>? {
        guard let start = text.firstRange(of: "<\(property)>")?.upperBound,
            let end = text[start...].firstRange(of: "</\(property)>")?.lowerBound
        else { return nil }
        return start..<end
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>, _ text: String) -> String {
        String(self[..<range.lowerBound] + text + self[range.upperBound...])
    }
}
