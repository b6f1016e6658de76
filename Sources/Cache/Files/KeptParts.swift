import Glibc
import Model
import Numbers
import Synchronization

/// The beginning of a photo whose transfer broke off, and what it takes to go on.
public struct KeptPart: Sendable {
    /// What there is of it.
    public let file: PartialFile
    /// How many bytes.
    public let size: ByteCount
    /// By which the server knows whether the rest that it has belongs to it.
    public let validator: String
    /// Where the answer came from in the end.
    public let url: String
    /// How long the whole is, as that answer stated it; nil where it stated nothing.
    public let whole: ByteCount?
    /// The photo's edition that it is of.
    let edition: Int
}

/// Beginnings of photos: of those whose transfer broke off, kept for as long as the program runs, and of those that are on
/// their way.
///
/// Each is a file that takes room on the disk, so there are not to be many; the oldest go. A part is handed out once: two
/// transfers must not write into one file.
public final class KeptParts: Sendable {
    private struct State {
        var parts: [PhotoKey: KeptPart] = [:]
        /// The oldest first.
        var order: [PhotoKey] = []
        /// Files that are written into at the moment. They belong to whoever does it.
        var growing: [PhotoKey: (edition: Int, file: Growing)] = [:]
    }

    /// A file for as long as it is there.
    private struct Growing {
        weak var file: PartialFile?
    }

    private let state = Mutex(State())

    /// What is less than this comes again as soon as it is asked for.
    private static let worthKeeping: ByteCount = 65_536
    private static let most = 64

    /// Keeps what has come of a photo, if it is worth it.
    ///
    /// - Parameters:
    ///   - validator: what the answer says by which it can be gone on with; without one it cannot.
    ///   - url: where the answer came from in the end.
    ///   - whole: the length of the whole, as the answer stated it.
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

    /// Notes that a photo's edition comes into a file; for as long as that file is there.
    public func recordGrowth(_ file: PartialFile, of key: PhotoKey, edition: Int) {
        state.withLock { state in
            state.growing = state.growing.filter { $0.value.file.file != nil }
            state.growing[key] = (edition, Growing(file: file))
        }
    }

    /// The path of the file that a photo's edition comes into at the moment, to be looked at. It may be gone the next moment.
    public func growing(_ key: PhotoKey, edition: Int) -> String? {
        state.withLock { state in
            guard let growing = state.growing[key], growing.edition == edition else { return nil }
            return growing.file.file?.path
        }
    }

    /// Hands out what there is of a photo's edition. Of another edition it is of no use, and goes.
    public func take(_ key: PhotoKey, edition: Int) -> KeptPart? {
        state.withLock { state in
            guard let part = state.parts.removeValue(forKey: key) else { return nil }
            state.order.removeAll { $0 == key }
            return part.edition == edition ? part : nil
        }
    }

    /// How many bytes there are of a photo's edition.
    public func size(_ key: PhotoKey, edition: Int) -> ByteCount {
        state.withLock { state in
            guard let part = state.parts[key], part.edition == edition else { return 0 }
            return part.size
        }
    }
}
