import Glibc
import Model
import Numbers
import Synchronization

/// The beginning of a photo whose transfer was interrupted, and the data to resume it.
public struct KeptPart: Sendable {
    /// The file with the received bytes.
    public let file: PartialFile
    /// The number of received bytes.
    public let size: ByteCount
    /// The validator that proves to the server which version the bytes belong to.
    public let validator: String
    /// The final address of the response, after redirects.
    public let url: String
    /// The full length that the response stated, if it did.
    public let whole: ByteCount?
    /// The photo's edition.
    let edition: Int
}

/// The received beginnings of photos: of interrupted transfers and of running ones.
///
/// Interrupted ones are kept while the program runs. They take disk space, so only the latest 64 remain. A part is
/// returned once, because two transfers must not write to the same file.
public final class KeptParts: Sendable {
    private struct State {
        var parts: [PhotoKey: KeptPart] = [:]
        /// In order of age, oldest first.
        var order: [PhotoKey] = []
        /// Files that running transfers write to and own.
        var growing: [PhotoKey: (edition: Int, file: Growing)] = [:]
    }

    /// A weak reference to a file.
    private struct Growing {
        weak var file: PartialFile?
    }

    private let state = Mutex(State())

    /// Less than this is not worth a resumption.
    private static let worthKeeping: ByteCount = 65_536
    private static let most = 64

    /// Keeps the beginning of a photo if the transfer can be resumed.
    ///
    /// - Parameters:
    ///   - validator: the response's validator. Without one the transfer cannot be resumed.
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

    /// Returns the path of the file that a transfer is writing to. It may disappear at any time.
    public func growing(_ key: PhotoKey, edition: Int) -> String? {
        state.withLock { state in
            guard let growing = state.growing[key], growing.edition == edition else { return nil }
            return growing.file.file?.path
        }
    }

    /// Removes and returns the part of a photo's edition. Parts of other editions are dropped.
    public func take(_ key: PhotoKey, edition: Int) -> KeptPart? {
        state.withLock { state in
            guard let part = state.parts.removeValue(forKey: key) else { return nil }
            state.order.removeAll { $0 == key }
            return part.edition == edition ? part : nil
        }
    }

    /// Returns the number of bytes kept of a photo's edition.
    public func size(_ key: PhotoKey, edition: Int) -> ByteCount {
        state.withLock { state in
            guard let part = state.parts[key], part.edition == edition else { return 0 }
            return part.size
        }
    }
}
