import Dispatch
import Glibc

/// Tells when a file in a folder is written to, by whatever process. Until then it costs nothing.
///
///     let watch = FolderWatch("/var/lib/x") { print("something was written") }
///
/// Of many writes in a row it tells once or more often, and what is written through a mapping of the file it does not hear.
/// It watches for as long as it is held.
public final class FolderWatch: Sendable {
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Begins to watch, or returns nil where the system has no more watches to give.
    ///
    /// - Parameter onWrite: called on a queue of its own.
    public init?(_ folder: String, onWrite: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY)) >= 0 else {
            close(descriptor)
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "vitrine.watch"))
        source.setEventHandler {
            // What was written does not matter; that it is read does, or it would be told again.
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
            onWrite()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}
