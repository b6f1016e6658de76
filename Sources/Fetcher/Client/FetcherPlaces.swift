import Glibc
import Model
import Sandbox
import Session

/// The places that the fetcher's restrictions must permit.
///
/// A permission belongs to a file or folder, not to its path. It does not extend to another file that replaces the
/// first one while the fetcher runs. So a place is identified by its path and its file.
struct FetcherPlaces {
    private struct File: Equatable {
        let device: dev_t
        let number: ino_t
    }

    private var files: [String: File] = [:]
    /// The folders among the files, by their real paths.
    private var folders: [String: File] = [:]
    /// Whether resolving a host's name needs a service of this machine.
    private(set) var needsLocalNames = false

    /// - Parameters:
    ///   - paths: files and folders that all galleries need. Missing files are left out.
    ///   - galleries: the addresses of the open galleries.
    ///   - proxies: the proxies of the environment.
    init(_ paths: [String], _ galleries: [Address], _ proxies: ConfiguredProxies) {
        needsLocalNames = proxies.haveLocalName
        paths.forEach { add($0) }
        for address in galleries {
            if let path = address.filePath { addFolders(of: path) }
            needsLocalNames = needsLocalNames || address.host.hasSuffix(".local")
        }
    }

    var paths: [String] { files.keys.sorted() }

    private mutating func add(_ path: String) {
        guard let (file, isFolder) = Self.file(at: path) else { return }
        files[path] = file
        if isFolder, let real = FetcherRules.realPath(of: path) { folders[real] = file }
    }

    private static func file(at path: String) -> (File, isFolder: Bool)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let file = File(device: status.st_dev, number: status.st_ino)
        return (file, isFolder: status.st_mode & S_IFMT == S_IFDIR)
    }

    /// Adds the folder of a local gallery.
    ///
    /// If a list is a link, its photos may be beside the link or its target.
    private mutating func addFolders(of path: String) {
        if Self.file(at: path)?.isFolder == true { return add(path) }
        for file in [path, FetcherRules.realPath(of: path)].compactMap({ $0 }) {
            guard let slash = file.lastIndex(of: "/") else { continue }
            add(slash == file.startIndex ? "/" : String(file[..<slash]))
        }
    }

    /// Returns whether these places include all places of `other`.
    func contains(_ other: FetcherPlaces) -> Bool {
        other.files.allSatisfy { files[$0.key] == $0.value || reach($0.key, of: $0.value.device) }
            && (needsLocalNames || !other.needsLocalNames)
    }

    /// Forgets the files and folders that `other` does not have at the same paths.
    ///
    /// A disk that is mounted again may have the same numbers, and the permission for its files ended with the former
    /// mount.
    mutating func forget(missingIn other: FetcherPlaces) {
        files = files.filter { other.files[$0.key] == $0.value }
        folders = folders.filter { files.values.contains($0.value) }
    }

    /// Returns whether a path lies in one of the folders. A permission for a folder holds for everything below it on
    /// the same disk.
    private func reach(_ path: String, of device: dev_t) -> Bool {
        guard let real = FetcherRules.realPath(of: path) else { return false }
        return folders.contains { folder in
            real.hasPrefix(folder.key == "/" ? "/" : folder.key + "/") && folder.value.device == device
                && Self.file(at: folder.key)?.0 == folder.value
        }
    }
}
