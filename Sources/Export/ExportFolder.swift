import Files
import Glibc
import Model
import Text

/// A folder of the user that receives exported photos.
///
///     let folder = try ExportFolder("/media/stick/holidays")
///     try folder.put(stored, as: "Lake.jpg", date: photo.date)
///
/// This class never overwrites a file, and follows no link. If another file has the name, `put` throws an error; if the
/// same photo is already there, `put` does nothing. A name appears only when its file is complete.
final class ExportFolder: Sendable {
    /// The folder's path, for messages.
    let path: String
    private let descriptor: Int32
    /// The permissions of the files that the export makes.
    private let mode: mode_t
    /// The kinds of unfinished files to try, the preferred kind first.
    private let kinds: [UnfinishedFile.Kind]

    /// The result of adding a photo.
    enum Outcome: Equatable {
        case written
        /// The folder already had the photo, byte for byte.
        case wasThere
    }

    /// Opens or creates a folder, and removes the leftovers of killed exports. A missing parent folder is an error,
    /// because the user may have mistyped the path.
    ///
    /// - Parameters:
    ///   - mask: the permissions of the folder, if it is new, and of new files.
    ///   - kinds: the kinds of unfinished files to try. The export skips kinds that the file system does not support.
    init(
        _ path: String, _ mask: CreationMask, kinds: [UnfinishedFile.Kind] = UnfinishedFile.Kind.allCases
    ) throws(ExportError) {
        let isNew = mkdir(path, 0o700) == 0
        if !isNew, errno != EEXIST { throw .failed(path) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isNew ? O_NOFOLLOW : 0))
        guard descriptor >= 0 else { throw .failed(path) }
        var status = stat()
        if isNew, fstat(descriptor, &status) == 0 { fchmod(descriptor, mask.newFolder(status.st_mode)) }
        mode = fstat(descriptor, &status) == 0 ? mask.file(inFolder: status.st_mode) : 0o600
        self.path = path
        self.kinds = kinds
        UnfinishedFile.sweep(descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Returns the names of the folder's files. Returns no names if the folder is unreadable.
    func names() -> [String] {
        let stream = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return stream < 0 ? [] : FolderNames.names(consuming: stream)
    }

    /// Returns the size of a file. Returns nil if there is no such file.
    func size(_ name: String) -> Int64? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether the folder has a file with this name that passes a test. Follows no link.
    func has(_ name: String, where isSought: (Int32) -> Bool) -> Bool {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return isSought(file)
    }

    /// Copies a file into the folder. The name must not contain a slash.
    ///
    /// - Parameter source: a descriptor open for reading. Its position does not matter.
    func put(_ source: Int32, as name: String, date: Timestamp) throws(ExportError) -> Outcome {
        let target = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if target >= 0 {
            defer { close(target) }
            let isSame: Bool
            do throws(SystemError) {
                isSame = try Self.areEqual(source, target)
            } catch {
                throw .file(path: path(name), reason: "\(error)")
            }
            guard isSame else { throw .exists(path: path(name)) }
            return .wasThere
        }
        if errno != ENOENT { throw failure(of: name) }
        for kind in kinds {
            guard let file = try makeFile(kind, for: name) else { continue }
            try copy(source, to: file.descriptor, as: name, date)
            do throws(SystemError) {
                switch try file.take(name) {
                case .done: return .written
                case .nameIsTaken: throw SystemError(EEXIST)
                case .unsupported: continue
                }
            } catch {
                throw failure(of: name, error)
            }
        }
        // Some file systems, such as those of USB sticks, support no kind of unfinished file. On these, create the file
        // under its final name. O_EXCL ensures that the file is new.
        try copy(source, to: name, date)
        return .written
    }

    private func makeFile(_ kind: UnfinishedFile.Kind, for name: String) throws(ExportError) -> UnfinishedFile? {
        do throws(SystemError) { return try UnfinishedFile(kind, in: descriptor) } catch {
            throw .failed(path(name), error, in: descriptor)
        }
    }

    private func copy(_ source: Int32, to name: String, _ date: Timestamp) throws(ExportError) {
        let target = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw failure(of: name) }
        defer { close(target) }
        do throws(ExportError) {
            try copy(source, to: target, as: name, date)
        } catch {
            unlinkat(descriptor, name, 0)
            throw error
        }
    }

    private func copy(_ source: Int32, to target: Int32, as name: String, _ date: Timestamp) throws(ExportError) {
        try copy(source, to: target, as: name)
        // File systems without permissions ignore this call.
        fchmod(target, mode)
        Self.setDate(of: target, date)
        guard fsync(target) == 0 else { throw .failed(path(name), in: descriptor) }
    }

    private func copy(_ source: Int32, to target: Int32, as name: String) throws(ExportError) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 1)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while true {
            let count: Int
            do throws(SystemError) { count = try OpenFile.read(source, at: offset, into: piece) } catch {
                throw .file(path: path(name), reason: "\(error)")
            }
            guard count > 0 else { return }
            var rest = UnsafeRawBufferPointer(piece)[..<count]
            while !rest.isEmpty {
                let written = write(target, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw .failed(path(name), in: descriptor) }
                rest = rest.dropFirst(written)
            }
            offset += Int64(count)
        }
    }

    private func path(_ name: String) -> String { path + "/" + name }

    /// Returns the error for a system call that just failed for a name.
    private func failure(of name: String, _ error: SystemError = SystemError()) -> ExportError {
        switch error.code {
        case EEXIST, ELOOP: .exists(path: path(name))
        case EINVAL: .name(path: path(name))
        default: .failed(path(name), error, in: descriptor)
        }
    }

    /// Gives a file the photo's date, if known, because other programs sort files by date.
    ///
    /// Some network shares refuse dates. A photo without its date is better than no photo.
    private static func setDate(of file: Int32, _ date: Timestamp) {
        guard date != .unknown else { return }
        let time = timespec(tv_sec: Int(date.seconds), tv_nsec: date.millisecondsPart * 1_000_000)
        futimens(file, [time, time])
    }

    /// Whether two open files are the same, byte for byte. False unless the second is a regular file.
    static func areEqual(_ one: Int32, _ other: Int32) throws(SystemError) -> Bool {
        var (first, second) = (stat(), stat())
        guard fstat(one, &first) == 0, fstat(other, &second) == 0, second.st_mode & S_IFMT == S_IFREG,
            first.st_size == second.st_size
        else { return false }
        let pieces = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * pieceSize, alignment: 1)
        defer { pieces.deallocate() }
        let left = UnsafeMutableRawBufferPointer(rebasing: pieces[..<pieceSize])
        let right = UnsafeMutableRawBufferPointer(rebasing: pieces[pieceSize...])
        var offset: Int64 = 0
        while true {
            let count = try OpenFile.read(one, at: offset, into: left)
            guard try OpenFile.read(other, at: offset, into: right) == count else { return false }
            if count == 0 { return true }
            guard let left = left.baseAddress, let right = right.baseAddress, memcmp(left, right, count) == 0 else {
                return false
            }
            offset += Int64(count)
        }
    }

    private static let pieceSize = 1 << 16
}

extension ExportError {
    /// The errors that each further photo would meet, too: the disk is full, read-only, broken or gone.
    private static let lasting = [
        ENOSPC, EDQUOT, EROFS, EIO, ENODEV, ESTALE, ENOTCONN, ECONNABORTED, EHOSTDOWN, ETIMEDOUT,
    ]

    /// Returns the error for the system call that just failed in the destination.
    ///
    /// - Parameter folder: the destination's descriptor; nil if the destination cannot be opened.
    fileprivate static func failed(
        _ path: String, _ error: SystemError = SystemError(), in folder: Int32? = nil
    ) -> ExportError {
        let isLasting = lasting.contains(error.code) || (folder.map(isGone) ?? false)
        return isLasting ? .unusable(path: path, reason: "\(error)") : .file(path: path, reason: "\(error)")
    }

    /// Returns whether a folder was deleted or its disk does not answer.
    private static func isGone(_ folder: Int32) -> Bool {
        var status = stat()
        return fstat(folder, &status) != 0 || status.st_nlink == 0
    }
}

/// The files with numbers in their names, such as `Lake (2).jpg`, that a folder has when an export begins.
///
/// Feeds may have thousands of photos with the same title, so an export compares only files of the photo's size.
struct NumberedFiles {
    /// The names of files, by the name without the number.
    private var names: [String: [String]] = [:]
    /// The same names, by the size of the file, for those names that the export has asked for.
    private var namesBySize: [String: [Int64: [String]]] = [:]

    /// Reads the names of a folder's files.
    init(_ folder: ExportFolder) {
        for name in folder.names() {
            if let title = ExportName.withoutNumber(name) { names[title, default: []].append(name) }
        }
    }

    /// Returns the numbered files for a name that have a size.
    mutating func names(_ name: ExportName, size: Int64, in folder: ExportFolder) -> [String] {
        let title = name.folded
        if let found = names.removeValue(forKey: title) {
            namesBySize[title] = Dictionary(grouping: found) { folder.size($0) ?? -1 }
        }
        return namesBySize[title]?[size] ?? []
    }
}

/// A file name made from a photo's title.
///
///     ExportName(photo, .jpeg).text        // "Lake.jpg"
///
/// Titles come from strangers and may contain paths, terminal commands or hidden-file names. The result is always a
/// single visible name.
struct ExportName: Hashable {
    private let stem: String
    private let ending: String

    /// The longest file name without its ending, in bytes. File systems allow 255 bytes; the rest is for the ending and
    /// a number.
    private static let longest = 180

    /// The ending of a file with unknown contents and an unknown name.
    private static let plainEnding = "bin"

    /// Makes a file name from the photo's title.
    ///
    /// - Parameters:
    ///   - format: the file's actual format, which may contradict the title.
    ///   - video: the video's format; nil for a picture or unknown contents.
    init(_ photo: Photo, _ format: PictureSignature?, _ video: VideoSignature? = nil) {
        self.init(named: photo.name, id: photo.galleryID, format, video)
    }

    /// Makes a file name from a photo's title and its id in the gallery's list.
    ///
    /// The gallery chooses only among the endings of pictures and videos. With another ending, such as `.html`, the file
    /// could be a program.
    init(named name: String, id: String, _ format: PictureSignature?, _ video: VideoSignature? = nil) {
        let title = Self.harmless(name)
        let endings =
            format?.endings ?? video?.endings ?? [title, id].compactMap(Self.knownEnding) + [Self.plainEnding]
        self.init(title: title, id: id, endings)
    }

    /// Makes the file name that a photo had in an earlier export. Returns nil if no file name can have this ending.
    init?(_ photo: Photo, ending: String) {
        let isPlain = ending.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        guard isPlain, (1...8).contains(ending.utf8.count) else { return nil }
        self.init(title: Self.harmless(photo.name), id: photo.galleryID, [ending])
    }

    /// - Parameter endings: the possible endings, the usual ending first.
    private init(title: String, id: String, _ endings: [String]) {
        let own = endings.first { title.lowercased().hasSuffix("." + $0) && title.count > $0.count + 1 }
        // A title may lack an ending, and the format does not tell raw files from TIFFs. So the ending of the photo's
        // id is the second choice.
        let listed = endings.first { id.lowercased().hasSuffix("." + $0) }
        let bare = own.map { String(title.dropLast($0.count + 1)) } ?? title
        let stem = Self.harmless(bare.isEmpty ? id : bare)
        let short = Self.cut(stem)
        self.stem = short.isEmpty ? "photo" : short
        ending = own.map { String(title.suffix($0.count + 1)) } ?? "." + (listed ?? endings[0])
    }

    /// Returns the ending of a picture's or video's name in lower case. Returns nil for another name.
    private static func knownEnding(_ path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard PictureName.isPictureOrVideo(Array(name.utf8)[...]) else { return nil }
        return name.lowercased().split(separator: ".").last.map(String.init)
    }

    private init(stem: String, ending: String) { (self.stem, self.ending) = (stem, ending) }

    /// The file name.
    var text: String { stem + ending }

    /// The ending in lower case, without its dot.
    var kind: String { ending.dropFirst().lowercased() }

    /// The name in lower case, for comparisons, because some file systems ignore case.
    var folded: String { text.lowercased() }

    /// Returns the name with a number, for another photo with the same title. The first photo's name has none.
    func numbered(_ number: Int) -> ExportName {
        number > 1 ? ExportName(stem: "\(stem) (\(number))", ending: ending) : self
    }

    /// Returns a file's name in lower case without its number. Returns nil for a name without a number.
    static func withoutNumber(_ text: String) -> String? {
        let end = text.lastIndex(of: ".") ?? text.endIndex
        let stem = text[..<end]
        guard stem.hasSuffix(")"), let start = stem.lastIndex(of: "("), stem[..<start].hasSuffix(" "),
            Int(stem[start...].dropFirst().dropLast()) != nil
        else { return nil }
        return (stem[..<start].dropLast() + text[end...]).lowercased()
    }

    /// The name without the characters that FAT and exFAT do not allow.
    var portable: ExportName {
        let scalars = stem.unicodeScalars.map { #"\:*?"<>|"#.unicodeScalars.contains($0) ? "_" : $0 }
        return ExportName(stem: String(String.UnicodeScalarView(scalars)), ending: ending)
    }

    /// Returns a text that is safe as a visible file's name. Works on scalars, because Swift treats a slash, dot or
    /// dash and a following accent as one character.
    private static func harmless(_ text: String) -> String {
        var name = text.madeVisible.unicodeScalars.map { $0 == "/" ? "_" : $0 }
        while name.last == " " || name.last == "." { name.removeLast() }
        while name.first == " " { name.removeFirst() }
        // A leading dot would hide the file; a leading dash would make it an option of a command.
        if name.first == "." || name.first == "-" { name[0] = "_" }
        return String(String.UnicodeScalarView(name))
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
        case .heif: ["heic", "heif", "hif", "avif"]
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

extension VideoSignature {
    /// The file name endings of the format, the usual ending first.
    fileprivate var endings: [String] {
        switch self {
        case .mp4: ["mp4", "m4v", "mov", "3gp"]
        case .matroska: ["mkv", "webm"]
        case .avi: ["avi"]
        case .transportStream: ["mts", "m2ts", "mpg", "mpeg"]
        case .programStream: ["mpg", "mpeg"]
        }
    }
}
