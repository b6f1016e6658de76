import Files
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

/// The received beginnings of photos, from interrupted transfers.
///
/// Parts of interrupted transfers stay while the program runs. They take disk space, so only the latest 64 remain. The
/// file of a resumable transfer has a note with the data for the resumption, because the process may be killed. `take`
/// returns each part only once, because two transfers must not write to the same file.
public final class KeptParts: Sendable {
    private struct State {
        var parts: [PhotoKey: KeptPart] = [:]
        /// The photos with a part, in order of age, oldest first.
        var order: [PhotoKey] = []
    }

    private let state = Mutex(State())

    /// The number of this run; nil for none. A process that continues this run's transfers has the same number.
    fileprivate let run: UInt64?

    init(run: UInt64? = nil) {
        self.run = run
    }

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

    /// Writes a note with the data to resume a transfer in another process. Removes the note if that is impossible.
    public func writeNote(of key: PhotoKey, edition: Int, _ resumption: PartResumption?, to file: PartialFile) {
        guard let run, let resumption else { return FileNote.remove(from: file.descriptor) }
        let note = PartNote(run: run, key: key, edition: edition, resumption: resumption)
        FileNote.write(note.text, to: file.descriptor)
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

/// The data to resume a transfer that had no redirects.
public struct PartResumption: Hashable, Sendable {
    /// The address of the photo.
    public let address: Address
    /// The validator of the response.
    public let validator: String
    /// The full length that the response stated; nil if it stated no length.
    public let whole: ByteCount?

    /// Creates the data.
    public init(address: Address, validator: String, whole: ByteCount?) {
        (self.address, self.validator, self.whole) = (address, validator, whole)
    }
}

/// The note of a partial file. It identifies the photo, and contains the data to resume the transfer.
private struct PartNote {
    /// The number of the run. The file of another run may have holes, because the machine may have lost power.
    let run: UInt64
    let key: PhotoKey
    let edition: Int
    let validator: String
    let whole: ByteCount?
    /// The text of the photo's address. It shows whether the key still belongs to the photo.
    let address: String

    init(run: UInt64, key: PhotoKey, edition: Int, resumption: PartResumption) {
        (self.run, self.key, self.edition, address) = (run, key, edition, resumption.address.text)
        (validator, whole) = (resumption.validator, resumption.whole)
    }

    /// Parses a note. Returns nil for other texts.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 6, let run = UInt64(lines[0]), let key = Int64(lines[1]), let edition = Int(lines[2]),
            !lines[4].isEmpty
        else { return nil }
        (self.run, self.key, self.edition) = (run, PhotoKey(key), edition)
        if lines[3].isEmpty {
            whole = nil
        } else {
            guard let length = Int64(lines[3]), length >= 0 else { return nil }
            whole = ByteCount(length)
        }
        (validator, address) = (String(lines[4]), String(lines[5]))
    }

    var text: String {
        let length = whole.map { "\($0.int64)" } ?? ""
        return ["\(run)", "\(key.rawValue)", "\(edition)", length, validator, address].joined(separator: "\n")
    }
}

extension GalleryCache {
    /// Adopts the partial files that a killed process of this run left. Vitrine can then resume their transfers.
    /// Removes other abandoned files.
    public func adoptParts() {
        for file in files.abandonedPartials() {
            guard let note = FileNote.read(from: file.descriptor).flatMap({ PartNote($0) }),
                note.run == parts.run,
                // If the database was replaced, the number may be that of another photo.
                let address = try? read({ try $0.source(of: note.key, .original)?.address }),
                address.text == note.address
            else { continue }
            parts.keep(
                file, of: note.key, edition: note.edition, validator: note.validator, url: note.address,
                whole: note.whole)
        }
    }
}
