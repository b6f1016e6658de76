import Dispatch
import Glibc
import Synchronization

/// Reports changes in folders, which the kernel notices.
///
///     let watch = FolderWatch { changes in print(changes) }
///     watch?.add(Array("/home/me/Pictures".utf8), named: [])
///     watch?.add(Array("/home/me/Pictures/2024".utf8), named: Array("2024/".utf8))
///
/// The watch covers a folder's subfolders only if you add them. It reports a file that is being written only when the
/// file is complete. The watch ends with this object and costs nothing in between.
public final class FolderWatch: Sendable {
    /// A change in a watched folder. A folder has the name under which it was added. Such a name ends with a slash or
    /// is empty.
    public enum Change: Hashable, Sendable {
        /// Files of a folder were added, removed or written.
        case files(in: [UInt8])
        /// A folder was added or removed, with all folders below it.
        case folder([UInt8])
        /// Anything may have changed, because the system lost events or a disk was unmounted.
        case anything

        /// Whether another change concerns only folders that this change concerns, too.
        public func includes(_ other: Change) -> Bool {
            switch (self, other) {
            case (.folder(let outer), .folder(let inner)): inner != outer && inner.starts(with: outer)
            case (.folder(let outer), .files(let inner)): inner.starts(with: outer)
            case (.anything, .files), (.anything, .folder): true
            case (.files, _), (_, .anything): false
            }
        }
    }

    /// A folder of the watch.
    private struct Folder {
        let path: [UInt8]
        /// The name in changes.
        let name: [UInt8]
    }

    private let descriptor: Int32
    private let folders: Mutex<[Int32: Folder]>
    /// The event source of the watch. The property is set once. Afterwards this class only calls `cancel`, which is
    /// safe from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    private static let events =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK

    /// Creates a watch without folders. Returns nil if the system has no watch left.
    ///
    /// - Parameter onChange: called on a queue of its own.
    public init?(onChange: @escaping @Sendable (Set<Change>) -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        folders = Mutex([:])
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "vitrine.folders"))
        source.setEventHandler { [weak self] in
            guard let changes = self?.takeChanges(), !changes.isEmpty else { return }
            onChange(changes)
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// The maximum number of folders of a watch. All programs of the user share the system's watches.
    private static let maximumFolders = 8_192

    /// Watches a folder. Returns false if there are too many folders or the system has no watch left.
    ///
    /// - Parameters:
    ///   - path: the path of the folder.
    ///   - name: the folder's name in changes, which is empty or ends with a slash.
    @discardableResult
    public func add(_ path: [UInt8], named name: [UInt8]) -> Bool {
        folders.withLock { folders in
            guard folders.count < Self.maximumFolders else { return false }
            let text = (path + [0]).map { CChar(bitPattern: $0) }
            let watch = inotify_add_watch(descriptor, text, UInt32(Self.events))
            guard watch >= 0 else { return false }
            folders[watch] = Folder(path: path, name: name)
            return true
        }
    }

    /// Reads all queued events.
    private func takeChanges() -> Set<Change> {
        folders.withLock { folders in
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
                var changes: Set<Change> = []
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return changes }
                    var offset = 0
                    while offset + MemoryLayout<inotify_event>.size <= count {
                        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        offset += MemoryLayout<inotify_event>.size
                        let end = min(offset + Int(event.len), count)
                        let name = buffer[offset..<end].prefix { $0 != 0 }
                        offset = end
                        if let change = change(event, Array(name), &folders) { changes.insert(change) }
                    }
                }
            }
        }
    }

    private func change(_ event: inotify_event, _ name: [UInt8], _ folders: inout [Int32: Folder]) -> Change? {
        func has(_ flags: Int32) -> Bool { event.mask & UInt32(flags) != 0 }
        // An unmounted disk leaves an empty folder. The listener notices this when it reads all folders again.
        if has(IN_Q_OVERFLOW | IN_UNMOUNT) { return .anything }
        if has(IN_IGNORED) {
            folders[event.wd] = nil
            return nil
        }
        guard let folder = folders[event.wd] else { return nil }
        guard has(IN_ISDIR) else {
            // The kernel sends another event when a new file is complete.
            if has(IN_CREATE), !Self.mayBeComplete(name, in: folder) { return nil }
            return .files(in: folder.name)
        }
        // The attributes of a folder do not matter.
        guard has(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) else { return nil }
        let path = folder.name + name + [UInt8(ascii: "/")]
        if has(IN_MOVED_FROM) {
            // The folder has another name now. End the watches of the folder and of those below it; the listener adds
            // them again under the new name.
            for (watch, _) in folders.filter({ $0.value.name.starts(with: path) }) {
                inotify_rm_watch(descriptor, watch)
                folders[watch] = nil
            }
        }
        return .folder(path)
    }

    /// Whether a new name may be that of a complete file. The kernel then sends no other event.
    ///
    /// The file may have lost its earlier name meanwhile. While a program writes a new file, both times of the file are
    /// equal. A new name changes only the time of the attributes.
    private static func mayBeComplete(_ name: [UInt8], in folder: Folder) -> Bool {
        let path = (folder.path + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        let (attributes, contents) = (status.st_ctim, status.st_mtim)
        return status.st_nlink > 1
            || (attributes.tv_sec, attributes.tv_nsec) != (contents.tv_sec, contents.tv_nsec)
    }
}
