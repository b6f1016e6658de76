import Cache
import Concurrency
import Export
@preconcurrency import Glibc  // for environ, which nobody here changes
import Logging
import Model
import Session
import Settings
import Synchronization

/// Gives photos to another program: the one that the user has named, or whatever the desktop opens pictures with.
///
///     let program = ExternalProgram(settings, variable, wishes, onTrouble: { … })
///     if let failure = await program.open([key], of: cache) { print(failure) }
///     await program.sweep()
///
/// It gets a copy of its own under a name that people can read, since what it writes into must not be the cache; and of a
/// photo that is not here, the address. The program is on its own: it has another session, no terminal, and goes on when
/// Vitrine ends.
actor ExternalProgram {
    private let chosen: ExternalCommand?
    private let browser: ExternalCommand?
    private let hasDisplay: Bool
    private let temporaryFolder: String
    private let wishes: Wishes
    private let onTrouble: @Sendable (String) -> Void
    /// Where copies lie, once there are any.
    private var folder: String?
    private var copies = 0
    /// Each waits for the end of one program: else it would stay behind as one that nobody has asked about.
    private let waiting = Workers(name: "programs", count: 8)

    private static let desktop = "xdg-open"

    /// - Parameters:
    ///   - variable: looks up an environment variable.
    ///   - onTrouble: is told what comes out later: the desktop has no program for it.
    init(
        _ settings: Settings, _ variable: (String) -> String?, wishes: Wishes,
        onTrouble: @escaping @Sendable (String) -> Void
    ) {
        chosen = settings.openWith.flatMap { ExternalCommand($0) }
        browser = variable("BROWSER").flatMap { ExternalCommand(browsers: $0) }
        hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { variable($0)?.isEmpty == false }
        temporaryFolder = variable("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        self.wishes = wishes
        self.onTrouble = onTrouble
    }

    /// Opens photos. Returns a sentence if that cannot be done.
    func open(_ keys: [PhotoKey], of cache: GalleryCache) async -> String? {
        do {
            var targets: [String] = []
            for key in keys { targets.append(try await target(key, cache)) }
            if let chosen {
                try start(chosen.words(for: targets))
            } else {
                // These two take one at a time.
                for target in targets { try start(try command(for: target).words(for: [target])) }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Removes the copies, for the end of the program.
    func sweep() {
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

    // MARK: - What is opened

    /// A copy of the photo, or its address.
    private func target(_ key: PhotoKey, _ cache: GalleryCache) async throws -> String {
        let (isHere, address) = try cache.read { reader in
            (try reader.photoFile(of: key) != nil, try reader.source(of: key, .original)?.address)
        }
        if isHere, let copy = try await copy(key, cache) { return copy }
        guard let address else { throw ExternalProgramError.gone }
        return address.text
    }

    /// Nil if it has gone from here in this moment.
    private func copy(_ key: PhotoKey, _ cache: GalleryCache) async throws -> String? {
        let place = "\(try privateFolder())/\(copies)"
        copies += 1
        let result = Mutex<Result<String, ExportError>?>(nil)
        let export = try PhotoExport(
            [key], of: cache, to: place, mask: .ownerOnly, wishes: wishes, mayFetch: false)
        _ = try await export.run { event in result.withLock { $0 = event.result } }
        switch result.withLock({ $0 }) {
        case .success(let path): return path
        case .failure(.unavailable), nil: return nil
        case .failure(let error): throw error
        }
    }

    private func privateFolder() throws(ExternalProgramError) -> String {
        if let folder { return folder }
        var template = Array("\(temporaryFolder)/vitrine-XXXXXX".utf8CString)
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

    // MARK: - Who opens it

    private func start(_ words: [String]) throws(ExternalProgramError) {
        let process = try Self.spawn(words)
        let isDesktop = words[0] == Self.desktop
        waiting.run { [onTrouble] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 0
            // What other programs mean by their codes, only they know.
            if isDesktop, code != 0 { onTrouble("\(ExternalProgramError.unopened(code: code))") }
        }
    }

    private static func spawn(_ words: [String]) throws(ExternalProgramError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Neither the terminal, which is ours, nor anything else that is open here.
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        for descriptor in entries("/proc/self/fd").compactMap({ Int32($0) }) where descriptor > 2 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // A session of its own: Ctrl-C in our terminal, and its end, are not meant for it.
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(
            &attributes, Int16(newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        arguments.append(nil)
        var process = pid_t()
        let failure = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
        guard failure == 0 else {
            throw .notStarted(words[0], reason: String(cString: strerror(failure)))
        }
        return process
    }
}

/// Why a photo could not be given to another program.
enum ExternalProgramError: Error, Equatable, CustomStringConvertible {
    /// The program cannot be started; the system's reason.
    case notStarted(String, reason: String)
    /// Nobody has named a program, and there is no desktop that would know one.
    case noDisplay
    /// The desktop has no program for it, or that failed.
    case unopened(code: Int32)
    /// There is no room for a copy; the system's reason.
    case noFolder(String, reason: String)
    /// The gallery does not have the photo any more.
    case gone

    /// A sentence for the user.
    var description: String {
        switch self {
        case .notStarted(let program, let reason): "“\(program)” cannot be started: \(reason)."
        case .noDisplay: "There is no display to open it on; the setting open-with names a program."
        case .unopened(let code): "xdg-open could not open it (\(code)); the setting open-with names a program."
        case .noFolder(let path, let reason): "\(path): \(reason)."
        case .gone: "The gallery does not have it any more."
        }
    }
}

/// A command of the user's for what is opened elsewhere: a program, its arguments, and among them the place for what is to
/// be opened.
///
///     ExternalCommand("feh --fullscreen")?.words(for: ["/tmp/Lake.jpg"])     // feh --fullscreen /tmp/Lake.jpg
///     ExternalCommand("lynx -dump %s")?.words(for: ["http://example.org/"])  // lynx -dump http://example.org/
///
/// It is taken apart at its white space and never seen by a shell: what it opens has names that come from strangers.
struct ExternalCommand: Equatable {
    private let parts: [String]

    /// Nil where nothing is named.
    init?(_ text: String) {
        // A program whose path has a space in it is one all the same.
        parts = access(text, X_OK) == 0 ? [text] : text.split(whereSeparator: \.isWhitespace).map(String.init)
        if parts.isEmpty { return nil }
    }

    /// The first command that `$BROWSER` names: "a colon-separated list of browser command parts", of which each may say with
    /// `%s` where the address goes.
    init?(browsers text: String) {
        guard let first = text.split(separator: ":").first else { return nil }
        self.init(String(first))
    }

    /// What the program is called.
    var program: String { parts[0] }

    /// The whole command, for targets that are addresses or absolute paths: so none of them can be taken for an option.
    func words(for targets: [String]) -> [String] {
        guard parts.contains(where: { $0.contains("%s") }) else { return parts + targets }
        return parts.flatMap { part -> [String] in
            if part == "%s" { return targets }
            guard part.contains("%s"), let target = targets.first else { return [part] }
            return [part.replacing("%s", with: target)]
        }
    }
}
