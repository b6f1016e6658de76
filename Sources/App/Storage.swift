import Cache
import Files
import Glibc
import Settings
import Synchronization

/// Decides where Vitrine puts caches, and which data it cannot keep.
///
/// If the home folder is not writable, caches go into a temporary folder until the program ends. Nothing else is kept.
final class Storage: Sendable {
    private let locations: Locations
    private let parents: [String]
    private let state = Mutex(State())

    private struct State {
        /// The temporary folder for caches, if Vitrine has made one.
        var temporary: TemporaryFolder?
        var isNoticeTaken = false
    }

    /// Creates the storage.
    ///
    /// - Parameter variable: looks up an environment variable.
    init(_ locations: Locations, _ variable: (String) -> String?) {
        self.locations = locations
        let named = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap(variable).filter { $0.hasPrefix("/") }
        parents = named + ["/tmp"]
    }

    /// Makes a temporary folder for caches, and returns its path.
    ///
    /// - Parameter error: the reason that the default folder is unusable.
    func temporaryCaches(_ error: CacheError) throws(StorageError) -> String {
        try state.withLock { (state) throws(StorageError) -> String in
            if let temporary = state.temporary { return temporary.path }
            var obstacles: [String] = []
            for parent in parents {
                do throws(SystemError) {
                    let temporary = try TemporaryFolder(in: parent)
                    state.temporary = temporary
                    return temporary.path
                } catch {
                    obstacles.append("\(parent): \(error)")
                }
            }
            throw .nowhere("\(error)", obstacles)
        }
    }

    /// The path of the temporary folder for caches, if Vitrine has made one.
    var temporaryFolder: String? { state.withLock { $0.temporary?.path } }

    /// Whether Vitrine can keep places, commands and network history.
    var keepsState: Bool { Writability.obstacle(in: locations.state) == nil }

    /// Whether Vitrine can keep the list of galleries and passwords.
    var keepsConfiguration: Bool { Writability.obstacle(in: locations.config) == nil }

    /// Returns a notice about data that Vitrine cannot keep. Later calls return nil.
    func takeNotice() -> String? {
        let isTemporary = temporaryFolder != nil
        var (things, folders): ([String], [String]) = ([], [])
        if isTemporary {
            things.append("fetched photos")
            folders.append(locations.cache)
        }
        if !keepsState {
            things += ["places", "typed commands", "network history"]
            folders.append(locations.state)
        }
        if !keepsConfiguration {
            things += ["passwords", "changes to the list of galleries"]
            folders.append(locations.config)
        }
        guard !folders.isEmpty, takeFirstTurn() else { return nil }
        return "Lost when Vitrine ends: \(things.joined(separator: ", ")). "
            + "Vitrine cannot write to \(folders.joined(separator: ", "))."
    }

    private func takeFirstTurn() -> Bool {
        state.withLock { state in
            defer { state.isNoticeTaken = true }
            return !state.isNoticeTaken
        }
    }

    /// Removes the temporary folder. Vitrine calls this method before it ends.
    func end() { state.withLock { $0.temporary }?.remove() }

    /// Removes the temporary folders of killed processes.
    func sweep() { for parent in parents { TemporaryFolder.sweep(parent) } }
}

/// The error when no folder can hold caches.
enum StorageError: Error, CustomStringConvertible {
    /// The reasons why Vitrine can use neither the default folder nor any temporary folder.
    case nowhere(String, [String])

    /// The error as a sentence for the user.
    var description: String {
        switch self {
        case .nowhere(let reason, let obstacles):
            "\(reason) Vitrine cannot make a temporary folder either: \(obstacles.joined(separator: "; ")). "
                + "Name a writable folder with “--cache-dir”, or set XDG_CACHE_HOME or TMPDIR."
        }
    }
}
