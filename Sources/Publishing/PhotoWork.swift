import Concurrency
import Dispatch
import Files
import Glibc
import Model
import Pictures
import Pixels
import Synchronization

/// The work for one file of the folder, which any thread can do.
struct PhotoWork: Sendable {
    /// The result of the work for one file.
    enum Outcome: Sendable {
        /// The file and its thumbnail are unchanged.
        case unchanged(RecordLine)
        /// The file was processed, and the caller must record the line. The photo `before` is the gallery's earlier
        /// photo of the file, if any.
        case looked(RecordLine, before: PublishedPhoto?)
        /// The file does not begin like a picture, and is not in the record as a photo.
        case other
        /// The file could not be processed in this run. The values are the path for display and the reason.
        case failed(String, reason: String)
        /// An error that prevents the work for all files, such as a full disk.
        case halted(PublishingError)
    }

    let folder: OpenFolder
    let decoder: DecoderClient
    /// Identifies the version of the decoder. Another version may decode files that this version cannot.
    let decoderEdition: String

    /// The size of the largest thumbnail, in pixels.
    private static let box = PixelSize(width: 320, height: 240)

    /// Returns whether a file begins like a picture. The decoder decides for certain, but a process for each file would
    /// be slow.
    func mayBePicture(_ path: PhotoPath) throws(PublishingError) -> Bool {
        guard let file = folder.file(path.text) else { throw .failed(path.text) }
        defer { close(file) }
        do throws(SystemError) {
            return PictureSignature(try OpenFile.beginning(of: file, count: PictureSignature.length)) != nil
        } catch {
            // The file may be a picture, so the publisher must report it and not ignore it as another file.
            throw .failed(path.text, error)
        }
    }

    /// Returns the result for a file that does not begin like a picture. The file may have been a photo.
    func noPicture(_ path: PhotoPath, _ stamp: FileStamp, known: RecordLine?) -> Outcome {
        guard let before = known?.photo else { return .other }
        let fate = RecordLine.Fate.other(format: "", decoder: decoderEdition, revision: before.revision)
        return .looked(RecordLine(reference: path.reference, stamp: stamp, fate: fate), before: before)
    }

    /// Makes a photo's thumbnail and reads the photo's metadata.
    ///
    /// - Parameters:
    ///   - known: the record of the previous run.
    ///   - slot: a number that no other thread is using.
    func publish(
        _ path: PhotoPath, _ stamp: FileStamp, known: RecordLine?, in thumbnails: ThumbnailFolder, slot: Int
    ) -> Outcome {
        func looked(_ fate: RecordLine.Fate) -> Outcome {
            .looked(RecordLine(reference: path.reference, stamp: stamp, fate: fate), before: known?.photo)
        }
        // Pass the open file to the decoder: the path may lead elsewhere by now.
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
                return looked(.other(format: format, decoder: decoderEdition, revision: known?.revision))
            case .undecodable(.notAPicture):
                return looked(.other(format: "", decoder: decoderEdition, revision: known?.revision))
            case _ where error.isThePicturesFault:
                return looked(.failed(reason: "\(error)", decoder: decoderEdition, revision: known?.revision))
            // Every other file would fail too.
            case .cannotStart, .tooFewDescriptors, .unrestricted: return .halted(.decoder(reason: "\(error)"))
            default: return .failed(path.text, reason: "\(error)")
            }
        }
        guard let bytes = reply.thumbnail else { return .failed(path.text, reason: "\(PictureError.decoderDied)") }
        do throws(PublishingError) {
            let thumbnail = try thumbnails.put(bytes, of: path.reference, stamp, slot: slot)
            return looked(.photo(photo(reply, path, stamp, known, thumbnail, size: bytes.count)))
        } catch {
            return .halted(error)
        }
    }

    private func photo(
        _ reply: DecodeReply, _ path: PhotoPath, _ stamp: FileStamp, _ known: RecordLine?, _ thumbnail: ThumbnailName,
        size: Int
    ) -> PublishedPhoto {
        let revision = known?.nextRevision(stamp) ?? 0
        return PublishedPhoto(
            name: PhotoName.text(title: reply.metadata.title, path: path),
            date: PhotoDate.moment(takenAt: reply.metadata.takenAt, modified: stamp, revision: revision),
            revision: revision, isCutShort: !reply.isComplete, thumbnail: thumbnail, thumbnailSize: Int64(size))
    }
}

/// Runs work in parallel and returns the results in order.
///
///     while !work.isFull, let next = walk.next() { work.add { decode(next) } }
///     let first = work.next()
///
/// `isFull` limits the work in progress, and also the finished results that wait for a slow first piece. Only one
/// thread may use the object.
final class OrderedWork<Value: Sendable> {
    /// A piece of work and its result.
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
    private let capacity: Int
    /// The pieces whose results the caller has not yet received, oldest first.
    private var pieces: [Piece] = []

    /// Creates an empty queue of work.
    ///
    /// - Parameter capacity: the number of pieces at which the queue is full. Then the caller takes a result before it
    ///   adds work.
    init(_ workers: Workers, capacity: Int) {
        self.workers = workers
        self.capacity = capacity
    }

    var isFull: Bool { pieces.count >= capacity }

    /// Starts a piece of work.
    func add(_ work: @escaping @Sendable () -> Value) {
        let piece = Piece()
        pieces.append(piece)
        workers.run { piece.finish(work()) }
    }

    /// Adds a result that is already known. The queue returns the result in its turn.
    func add(done value: Value) {
        pieces.append(Piece(value))
    }

    /// Waits for the oldest result and returns it; nil if the queue is empty.
    func next() -> Value? {
        pieces.isEmpty ? nil : pieces.removeFirst().wait()
    }
}
