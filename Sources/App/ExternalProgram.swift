import Cache
import Concurrency
import Export
import Files
import Glibc
import Logging
import Model
import Sandbox
import Session
import Settings
import Synchronization

/// Opens photos in another program, which the user or the desktop has chosen.
///
///     let program = ExternalProgram(settings, variable, wishes, onTrouble: { … })
///     if let failure = await program.open([key], of: cache) { print(failure) }
///     await program.removeCopies()
///
/// The program gets a copy with a readable name, so that the program cannot write into the cache. For a video in a
/// local folder, the program gets the path, because a copy may be large. For a video above 256 MB or an uncached photo,
/// the program gets the address. The program runs in its own session without a terminal, and continues when Vitrine
/// ends.
actor ExternalProgram {
    private var chosen: ExternalCommand?
    private let browser: ExternalCommand?
    private let hasDisplay: Bool
    private let launcher: Launcher
    private let temporaryFolder: String
    private let wishes: Wishes
    private let onTrouble: @Sendable (String) -> Void
    /// The folder for copies; nil until Vitrine makes the first copy.
    private var folder: String?
    private var copies = 0
    /// Threads that wait for started programs to end. Without these threads, ended programs would remain as zombies.
    private let waiting = Workers(name: "programs", count: 8)

    private static let desktop = "xdg-open"
    /// The size of the largest video to copy, in bytes. The folder for copies may be on a file system in memory.
    private static let largestVideo: Int64 = 256 << 20

    /// Creates an object that starts programs.
    ///
    /// - Parameters:
    ///   - variable: looks up an environment variable.
    ///   - launcher: starts the programs outside the restrictions of this process, which has no network.
    ///   - onTrouble: receives later failures, such as a desktop without a suitable program.
    init(
        _ settings: Settings, _ variable: (String) -> String?, wishes: Wishes, launcher: Launcher,
        onTrouble: @escaping @Sendable (String) -> Void
    ) {
        chosen = settings.openWith.flatMap { ExternalCommand($0) }
        browser = variable("BROWSER").flatMap { ExternalCommand(browsers: $0) }
        hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { variable($0)?.isEmpty == false }
        temporaryFolder = variable("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        (self.wishes, self.launcher) = (wishes, launcher)
        self.onTrouble = onTrouble
    }

    /// Adopts the program that the changed settings name.
    func use(_ settings: Settings) { chosen = settings.openWith.flatMap { ExternalCommand($0) } }

    /// Opens photos in the program. Returns a message on failure.
    func open(_ keys: [PhotoKey], of cache: GalleryCache) async -> String? {
        do {
            var targets: [String] = []
            for key in keys { targets.append(try await target(key, cache)) }
            if let chosen {
                try start(chosen.words(for: targets))
            } else {
                // The web browser and the desktop take one target at a time.
                for target in targets { try start(try command(for: target).words(for: [target])) }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Removes all copies. Vitrine calls this method before it ends.
    func removeCopies() {
        guard let folder else { return }
        for part in 0..<copies {
            for name in Self.entries("\(folder)/\(part)") { unlink("\(folder)/\(part)/\(name)") }
            rmdir("\(folder)/\(part)")
        }
        rmdir(folder)
        self.folder = nil
    }

    private func command(for target: String) throws(ExternalProgramError) -> ExternalCommand {
        if !target.hasPrefix("/"), let browser { return browser }
        guard hasDisplay, let desktop = ExternalCommand(Self.desktop) else { throw .noDisplay }
        return desktop
    }

    // MARK: - Copies

    /// Returns the text that the program gets: a path, an address, or a video's page.
    private func target(_ key: PhotoKey, _ cache: GalleryCache) async throws -> String {
        let (isCached, address, page) = try cache.read { reader in
            (
                try reader.photoFile(of: key) != nil, try reader.source(of: key, .original)?.address,
                try reader.videoPage(of: key)
            )
        }
        if let page { return page.text }
        if let address, let photo = try cache.read({ try $0.photo(key) }), photo.isVideoFile {
            if photo.isInPlace, let path = address.filePath {
                try check(address, cache)
                return path
            }
            if let size = photo.size, size > Self.largestVideo { return try text(of: address, cache) }
        }
        if isCached, let copy = try await copy(key, cache) { return copy }
        guard let address else { throw ExternalProgramError.gone }
        return try text(of: address, cache)
    }

    /// Returns an address for a program. Throws an error if the program must not open a local file.
    private func text(of address: Address, _ cache: GalleryCache) throws -> String {
        if address.isLocal { try check(address, cache) }
        return address.text
    }

    /// Throws an error unless an address names a picture or a video. The file must be in the gallery's folder. The
    /// fetcher can write any address into the cache, and for other kinds of files, the desktop would start other
    /// programs.
    private func check(_ file: Address, _ cache: GalleryCache) throws {
        do throws(SystemError) {
            try Self.check(cache.files.open(original: file), named: file.filePath ?? "")
        } catch {
            switch error.code {
            case ENOENT: throw ExternalProgramError.gone
            case EXDEV, ELOOP: throw ExternalProgramError.outside
            default: throw ExternalProgramError.noPicture
            }
        }
    }

    /// Throws an error unless a file is a picture or a video. The first bytes must show that, and the name must have a
    /// fitting extension or none. Closes the descriptor.
    private static func check(_ descriptor: Int32, named path: String) throws(SystemError) {
        defer { close(descriptor) }
        let bytes = try OpenFile.beginning(of: descriptor, count: PictureSignature.length)
        let name = Array(path.utf8).split(separator: UInt8(ascii: "/")).last ?? []
        let isNamed = !name.contains(UInt8(ascii: ".")) || PictureName.isPictureOrVideo(name)
        guard isNamed, PictureSignature(bytes) != nil || VideoSignature(bytes) != nil else {
            throw SystemError(EINVAL)
        }
    }

    /// Copies a photo from the cache. Returns nil if the cache has just removed the photo.
    private func copy(_ key: PhotoKey, _ cache: GalleryCache) async throws -> String? {
        let copyFolder = "\(try privateFolder())/\(copies)"
        copies += 1
        let result = Mutex<Result<String, ExportError>?>(nil)
        let export = try PhotoExport(
            [key], of: cache, to: copyFolder, mask: .ownerOnly, wishes: wishes, retries: nil)
        _ = try await export.run { event in result.withLock { $0 = event.result } }
        switch result.withLock({ $0 }) {
        case .success(let path):
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0, (try? Self.check(descriptor, named: path)) != nil else {
                throw ExternalProgramError.noPicture
            }
            return path
        case .failure(.unavailable), nil: return nil
        case .failure(let error): throw error
        }
    }

    private func privateFolder() throws(ExternalProgramError) -> String {
        if let folder { return folder }
        // mkdtemp replaces the last six characters.
        var template = Array("\(temporaryFolder)/vitrine-\(String(repeating: "X", count: 6))".utf8CString)
        // "The directory is created with permissions 0700."
        guard mkdtemp(&template) != nil else {
            throw .noFolder(temporaryFolder, reason: String(cString: strerror(errno)))
        }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        folder = made
        return made
    }

    private static func entries(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    // MARK: - Processes

    private func start(_ words: [String]) throws(ExternalProgramError) {
        let program: Launcher.Program
        do { program = try launcher.start(words) } catch {
            throw ExternalProgramError.notStarted(words[0], reason: String(cString: strerror(error.code)))
        }
        let isDesktop = words[0] == Self.desktop
        waiting.run { [onTrouble] in
            guard let status = program.wait() else { return }
            let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 0
            // Exit codes of other programs have no common meaning.
            if isDesktop, code != 0 { onTrouble("\(ExternalProgramError.unopened(code: code))") }
        }
    }
}

/// A failure to open a photo in another program.
enum ExternalProgramError: Error, Equatable, CustomStringConvertible {
    /// The system cannot start the program, for this reason.
    case notStarted(String, reason: String)
    /// The user has set no program, and no desktop can choose one.
    case noDisplay
    /// The desktop found no suitable program, or the program failed.
    case unopened(code: Int32)
    /// The system cannot make the folder for copies, for this reason.
    case noFolder(String, reason: String)
    /// The gallery no longer has the photo.
    case gone
    /// The file lies outside the gallery's folder.
    case outside
    /// The file is neither a picture nor a video.
    case noPicture

    /// The error as a sentence for the user.
    var description: String {
        switch self {
        case .notStarted(let program, let reason): "Vitrine cannot start “\(program)”: \(reason)."
        case .noDisplay: "No desktop found. Choose a program with the setting “open-with”."
        case .unopened(let code): "xdg-open failed with code \(code). Choose a program with the setting “open-with”."
        case .noFolder(let path, let reason): "\(path): \(reason)."
        case .gone: "The gallery no longer has this photo."
        case .outside: "The file is outside the gallery’s folder or behind a link, so Vitrine does not open it."
        case .noPicture: "The file is neither a picture nor a video, so Vitrine does not open it."
        }
    }
}

/// A user's command that opens files. It consists of a program with arguments, and `%s` stands for the file.
///
///     ExternalCommand("feh --fullscreen")?.words(for: ["/tmp/Lake.jpg"])     // feh --fullscreen /tmp/Lake.jpg
///     ExternalCommand("lynx -dump %s")?.words(for: ["http://example.org/"])  // lynx -dump http://example.org/
///     ExternalCommand("view --file=%s")?.words(for: ["/a", "/b"])            // view --file=/a --file=/b
///
/// White space separates the arguments. Vitrine starts no shell, because file names come from untrusted sources.
struct ExternalCommand: Equatable {
    private let parts: [String]

    /// Reads a command; nil if the text is blank.
    init?(_ text: String) {
        // A program's path may contain spaces.
        parts = access(text, X_OK) == 0 ? [text] : text.split(whereSeparator: \.isWhitespace).map(String.init)
        if parts.isEmpty { return nil }
    }

    /// Reads the first command of `$BROWSER`, "a colon-separated list of browser command parts".
    init?(browsers text: String) {
        guard let first = text.split(separator: ":").first else { return nil }
        self.init(String(first))
    }

    /// The name or path of the program.
    var program: String { parts[0] }

    /// Returns the program and its arguments for these targets.
    ///
    /// Targets are addresses or absolute paths, so that none looks like an option.
    func words(for targets: [String]) -> [String] {
        guard parts.contains(where: { $0.contains("%s") }) else { return parts + targets }
        return parts.flatMap { part -> [String] in
            part.contains("%s") ? targets.map { part.replacing("%s", with: $0) } : [part]
        }
    }
}
