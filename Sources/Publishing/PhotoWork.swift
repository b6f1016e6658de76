import Concurrency
import Dispatch
import Files
import Glibc
import Model
import Pictures
import Pixels
import Synchronization

/// What is done for one file, on any thread.
struct PhotoWork: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        /// It is as it was, and so is what was made of it.
        case unchanged(RecordLine)
        /// It was looked at, and that is to be remembered. What was in the gallery of it before, if anything was.
        case looked(RecordLine, before: PublishedPhoto?)
        /// It is no picture, and can be seen to be none.
        case other
        /// It could not be looked at this time; its path to be shown, and why.
        case failed(String, reason: String)
        /// Nothing can be decoded or written any more, and no file is to blame.
        case halted(PublishingError)
    }

    let folder: OpenFolder
    let decoder: DecoderClient
    /// Which edition of the decoder it is. What one could not read another may.
    let decoderEdition: String

    /// The room for a thumbnail, in pixels.
    private static let box = PixelSize(width: 320, height: 240)

    /// Whether a file begins as pictures do. A guard at the door: no process is started for a text or a film. What lies
    /// behind it the decoder decides.
    func mayBePicture(_ path: PhotoPath) throws(PublishingError) -> Bool {
        guard let file = folder.file(path.text) else { throw .failed(path.text) }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: PictureSignature.length)
        let count = head.withUnsafeMutableBytes { file.readAll(at: 0, into: $0) }
        return PictureSignature(head.prefix(count)) != nil
    }

    /// Makes the thumbnail of a photo, and finds out what the photo says of itself.
    ///
    /// - Parameters:
    ///   - known: what was made of it before.
    ///   - place: a number that no other thread uses at the time.
    func publish(
        _ path: PhotoPath, _ stamp: FileStamp, known: RecordLine?, in thumbnails: ThumbnailFolder, place: Int
    ) -> Outcome {
        func looked(_ fate: RecordLine.Fate) -> Outcome {
            .looked(RecordLine(reference: path.reference, stamp: stamp, fate: fate), before: known?.photo)
        }
        // The decoder gets the file and not its path, which may lead elsewhere by now.
        guard let file = folder.file(path.text) else {
            let error = SystemError()
            guard ![EMFILE, ENFILE].contains(error.code) else {
                return .halted(.decoder(reason: "\(PictureError.tooFewDescriptors)"))
            }
            return .failed(path.text, reason: "\(PictureError.file("\(error)"))")
        }
        defer { close(file) }
        let reply: DecodeReply
        do throws(PictureError) {
            reply = try decoder.thumbnail(of: .open(file), box: Self.box)
        } catch {
            switch error {
            case .undecodable(.unsupportedFormat(let format)):
                return looked(.other(format: format, decoder: decoderEdition))
            case .undecodable(.notAPicture): return looked(.other(format: "", decoder: decoderEdition))
            case _ where error.isThePicturesFault:
                return looked(.failed(reason: "\(error)", decoder: decoderEdition))
            // So it would be with every other.
            case .cannotStart, .tooFewDescriptors: return .halted(.decoder(reason: "\(error)"))
            default: return .failed(path.text, reason: "\(error)")
            }
        }
        guard let bytes = reply.thumbnail else { return .failed(path.text, reason: "\(PictureError.decoderDied)") }
        do throws(PublishingError) {
            let thumbnail = try thumbnails.put(bytes, of: path.reference, stamp, place: place)
            return looked(.photo(photo(reply, path, stamp, known, thumbnail, size: bytes.count)))
        } catch {
            return .halted(error)
        }
    }

    private func photo(
        _ reply: DecodeReply, _ path: PhotoPath, _ stamp: FileStamp, _ known: RecordLine?, _ thumbnail: ThumbnailName,
        size: Int
    ) -> PublishedPhoto {
        // One whose thumbnail was lost is still the same.
        let revision = known.flatMap { line in line.photo.map { $0.revision + (line.stamp == stamp ? 0 : 1) } } ?? 0
        return PublishedPhoto(
            name: PhotoName.text(title: reply.metadata.title, path: path),
            date: PhotoDate.moment(takenAt: reply.metadata.takenAt, modified: stamp, revision: revision),
            revision: revision, isCutShort: !reply.isComplete, thumbnail: thumbnail, thumbnailSize: Int64(size))
    }
}

/// Work that is done side by side, and comes back in the order in which it was given.
///
///     while !work.isFull, let next = walk.next() { work.add { decode(next) } }
///     let first = work.next()
///
/// No more is taken than fits, so that what comes back is bounded too however slow the first one is. Used by one thread.
final class OrderedWork<Value: Sendable> {
    /// One piece of work, and what came of it.
    private final class Piece: Sendable {
        private let value: Mutex<Value?>
        private let isDone = DispatchSemaphore(value: 0)

        init(_ value: Value? = nil) {
            self.value = Mutex(value)
            if value != nil { isDone.signal() }
        }

        func finish(_ value: Value) {
            self.value.withLock { $0 = value }
            isDone.signal()
        }

        func wait() -> Value? {
            isDone.wait()
            return value.withLock { $0 }
        }
    }

    private let workers: Workers
    private let room: Int
    /// The oldest first.
    private var pieces: [Piece] = []

    /// - Parameter room: how many may be given before the first is taken back.
    init(_ workers: Workers, room: Int) {
        self.workers = workers
        self.room = room
    }

    var isFull: Bool { pieces.count >= room }

    /// Gives work.
    func add(_ work: @escaping @Sendable () -> Value) {
        let piece = Piece()
        pieces.append(piece)
        workers.run { piece.finish(work()) }
    }

    /// Gives what is done already, to come back in its turn.
    func add(done value: Value) {
        pieces.append(Piece(value))
    }

    /// Waits for the oldest, and takes it back; nil if there is none.
    func next() -> Value? {
        pieces.isEmpty ? nil : pieces.removeFirst().wait()
    }
}
