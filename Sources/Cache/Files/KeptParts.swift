import Glibc
import Model
import Numbers
import Synchronization

/// The received beginning of a photo, with the data to resume its transfer.
public struct KeptPart: Sendable {
    /// The file with the received bytes.
    public let file: PartialFile
    /// The number of received bytes.
    public let size: ByteCount
    /// The ETag or date that identifies the version of the photo on the server.
    public let validator: String
    /// The final address of the response, after redirects.
    public let url: String
    /// The full length that the response stated; nil if it stated no length.
    public let whole: ByteCount?
    /// The edition of the photo that the bytes belong to.
    let edition: Int
}

/// The received beginnings of photos, from interrupted and running transfers.
///
/// Parts of interrupted transfers stay while the program runs. They take disk space, so only the latest 64 remain.
/// `take` returns each part only once, because two transfers must not write to the same file.
public final class KeptParts: Sendable {
    private struct State {
        var parts: [PhotoKey: KeptPart] = [:]
        /// The photos with a part, in order of age, oldest first.
        var order: [PhotoKey] = []
        /// The files that running transfers are writing. The transfers own the files.
        var growing: [PhotoKey: (edition: Int, file: Growing)] = [:]
    }

    /// A weak reference to the file of a running transfer.
    private struct Growing {
        weak var file: PartialFile?
    }

    private let state = Mutex(State())

    /// The smallest part to keep, in bytes. A smaller part would not save time.
    private static let worthKeeping: ByteCount = 65_536
    private static let most = 64

    /// Keeps the beginning of a photo if its transfer can be resumed.
    ///
    /// - Parameters:
    ///   - validator: the response's validator. Without it, the transfer cannot be resumed.
    ///   - url: the final address of the response.
    ///   - whole: the full length that the response stated.
    public func keep(
        _ file: PartialFile, of key: PhotoKey, edition: Int, validator: String?, url: String, whole: ByteCount?
    ) {
        guard let validator, file.size >= Self.worthKeeping else { return }
        let part = KeptPart(
            file: file, size: file.size, validator: validator, url: url, whole: whole, edition: edition)
        state.withLock { state in
            state.order.removeAll { $0 == key }
            state.order.append(key)
            state.parts[key] = part
            if state.order.count > Self.most { state.parts[state.order.removeFirst()] = nil }
        }
    }

    /// Records that a transfer writes a photo's edition to a file.
    public func recordGrowth(_ file: PartialFile, of key: PhotoKey, edition: Int) {
        state.withLock { state in
            state.growing = state.growing.filter { $0.value.file.file != nil }
            state.growing[key] = (edition, Growing(file: file))
        }
    }

    /// Returns the path of the file that a transfer is writing to. The file may disappear at any time.
    public func growing(_ key: PhotoKey, edition: Int) -> String? {
        state.withLock { state in
            guard let growing = state.growing[key], growing.edition == edition else { return nil }
            return growing.file.file?.path
        }
    }

    /// Removes and returns the part of a photo's edition. Discards the photo's part if it belongs to another edition.
    public func take(_ key: PhotoKey, edition: Int) -> KeptPart? {
        state.withLock { state in
            guard let part = state.parts.removeValue(forKey: key) else { return nil }
            state.order.removeAll { $0 == key }
            return part.edition == edition ? part : nil
        }
    }

    /// Returns the number of kept bytes of a photo's edition.
    public func size(_ key: PhotoKey, edition: Int) -> ByteCount {
        state.withLock { state in
            guard let part = state.parts[key], part.edition == edition else { return 0 }
            return part.size
        }
    }
}
