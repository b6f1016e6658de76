import Cache
import Files
import Glibc
import Settings
import Synchronization

/// Where the program keeps what it fetches and what it remembers, and what it cannot keep.
///
/// A home that cannot be written to keeps nobody from looking at photos: the caches then lie in a temporary folder that goes
/// with the program, and nothing is remembered.
final class Storage: Sendable {
    private let locations: Locations
    private let parents: [String]
    private let state = Mutex(State())

    private struct State {
        /// Holds the caches where their own folder cannot.
        var temporary: TemporaryFolder?
        var isToldOf = false
    }

    /// - Parameter variable: looks up an environment variable.
    init(_ locations: Locations, _ variable: (String) -> String?) {
        self.locations = locations
        let named = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap(variable).filter { $0.hasPrefix("/") }
        parents = named + ["/tmp"]
    }

    /// The folder for the caches in place of the usual one, which cannot be used.
    ///
    /// - Parameter error: why that is.
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

    /// The folder that the caches lie in, where that is a temporary one.
    var temporaryFolder: String? { state.withLock { $0.temporary?.path } }

    /// Whether places, commands and what was found out about networks can be kept.
    var keepsState: Bool { Writability.obstacle(in: locations.state) == nil }

    /// Whether the list of galleries and passwords can be kept.
    var keepsConfiguration: Bool { Writability.obstacle(in: locations.config) == nil }

    /// Names the things that are not kept, and the reason, once; nil if all are kept, or if it was said before.
    func takeNotice() -> String? {
        let isTemporary = temporaryFolder != nil
        var (things, folders): ([String], [String]) = ([], [])
        if isTemporary {
            things.append("what is fetched")
            folders.append(locations.cache)
        }
        if !keepsState {
            things.append("places, typed commands, network history")
            folders.append(locations.state)
        }
        if !keepsConfiguration {
            things.append("changes to the list of galleries, passwords")
            folders.append(locations.config)
        }
        guard !folders.isEmpty, takeTurnToTell() else { return nil }
        return "Not kept after this run: \(things.joined(separator: ", ")). "
            + "Vitrine cannot write to \(folders.joined(separator: ", "))."
    }

    private func takeTurnToTell() -> Bool {
        state.withLock { state in
            defer { state.isToldOf = true }
            return !state.isToldOf
        }
    }

    /// Removes what goes with the program, for its end.
    func end() { state.withLock { $0.temporary }?.remove() }

    /// Removes what killed programs have left behind.
    func sweep() { for parent in parents { TemporaryFolder.sweep(parent) } }
}

/// There is no place for caches.
enum StorageError: Error, CustomStringConvertible {
    /// Why the usual place is none, and why the others are none.
    case nowhere(String, [String])

    /// A sentence for the user.
    var description: String {
        switch self {
        case .nowhere(let reason, let obstacles):
            "\(reason) No temporary folder can be made in its place: \(obstacles.joined(separator: "; ")). "
                + "Name a folder that can be written to with “--cache-dir”, or set XDG_CACHE_HOME or TMPDIR."
        }
    }
}
