import Concurrency
import Files
import Formats
import Glibc
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session
import Synchronization

/// Sends a published gallery to a bucket of a storage service. Sends only the files that the bucket lacks, and the list
/// last.
///
///     let upload = GalleryUpload(to: address, credentials: credentials, client: client, governor: governor, log: log)
///     let report = try await upload.run(photos, list: list) { event in print(event) }
///
/// The governor decides how many files are sent at once. A photo is sent before its thumbnail, so that a thumbnail in
/// the bucket shows that the bucket has the photo, too: see ``BucketContents``. A cancelled run cancels its transfers,
/// and ends when they have ended. The next run sends the missing files. Vitrine removes nothing from the bucket.
public struct GalleryUpload: Sendable {
    private let folder: Address
    private let credentials: CredentialStore
    private let client: HTTPClient
    private let governor: any Governor
    private let schedule: RetrySchedule
    private let clock: any NetworkClock
    private let log: Log

    /// Creates an upload, which sends nothing before ``run(_:list:onEvent:)``.
    ///
    /// - Parameters:
    ///   - folder: the address of the folder in the bucket. The upload uses credentials in this address.
    ///   - schedule: limits the attempts for each file.
    public init(
        to folder: Address, credentials: CredentialStore, client: HTTPClient, governor: any Governor,
        schedule: RetrySchedule = RetrySchedule(maximumAttempts: 3), clock: any NetworkClock = MachineClock(), log: Log
    ) {
        self.folder = folder.asFolder
        (self.credentials, self.client, self.governor) = (credentials, client, governor)
        (self.schedule, self.clock, self.log) = (schedule, clock, log)
        if let origin = folder.origin, let typed = folder.credentials {
            credentials.take(SignIn(typed), for: .origin(origin))
        }
    }

    /// Sends the files that the bucket lacks, then the list.
    ///
    /// If a file cannot be sent, the list in the bucket stays as it is. An error that concerns all files ends the run.
    public func run(
        _ photos: [OutgoingPhoto], list: OutgoingFile, onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) async throws(UploadError) -> UploadReport {
        let names = Set<[UInt8]>(photos.lazy.flatMap { [$0.original.name, $0.thumbnail.name] } + [list.name])
        let contents: BucketContents
        do {
            contents = try await BucketFinder(folder, names, credentials, over: client, clock).find()
        } catch is CancellationError {
            return .interrupted
        } catch {
            throw UploadError(folder, NetworkPresence.refine(RequestError(error)), isWriting: false)
        }
        var jobs: [UploadJob] = []
        var unchanged = 0
        for photo in photos {
            guard !Task.isCancelled else { return .interrupted }
            let need = contents.need(of: photo)
            if need.original {
                jobs.append(UploadJob(photo.original, then: photo.thumbnail))
            } else if need.thumbnail {
                jobs.append(UploadJob(photo.thumbnail))
            }
            unchanged += (need.original ? 0 : 1) + (need.thumbnail ? 0 : 1)
        }
        let isListSent = jobs.isEmpty && contents.hasContents(of: list)
        let total = jobs.reduce(isListSent ? 0 : 1) { $0 + $1.fileCount }
        let sender = FileSender(contents.bucket, folder, credentials, client, log)
        let run = UploadRun(sender, governor, schedule, clock, total: total, onEvent)
        var report = try await run.send(jobs)
        report.unchanged = unchanged + (isListSent ? 1 : 0)
        if !isListSent, report.failed == 0, !report.isInterrupted {
            let listed = try await run.send([UploadJob(list)])
            report.add(listed)
            report.isListNew = listed.sent == 1
        }
        return report
    }
}

/// A file of a published gallery that can be sent.
public struct OutgoingFile: Sendable {
    /// The path below the gallery's folder.
    public let path: String
    /// The size in bytes.
    public let size: ByteCount
    /// Opens the file. The caller closes the descriptor. Throws an error if the file has changed since it was
    /// published.
    let open: @Sendable () throws -> (descriptor: Int32, mediaType: String)

    /// Creates a description of a file.
    public init(
        path: String, size: some BinaryInteger,
        open: @escaping @Sendable () throws -> (descriptor: Int32, mediaType: String)
    ) {
        (self.path, self.size, self.open) = (path, ByteCount(size), open)
    }

    /// The object's name in the bucket: the bytes of the path.
    var name: [UInt8] { Array(path.utf8) }
}

/// A photo of a published gallery, with the thumbnail of this version of the photo.
public struct OutgoingPhoto: Sendable {
    /// The photo's file.
    public let original: OutgoingFile
    /// The thumbnail. Each version of the photo has a thumbnail with another name.
    public let thumbnail: OutgoingFile

    /// Creates a description of a photo.
    public init(original: OutgoingFile, thumbnail: OutgoingFile) {
        (self.original, self.thumbnail) = (original, thumbnail)
    }
}

/// An event while Vitrine sends a gallery.
public enum UploadEvent: Equatable, Sendable {
    /// The number of files sent or failed, and the number of files to send.
    case progress(Int, of: Int)
    /// Vitrine has sent the file with this path.
    case sent(String)
    /// Vitrine could not send the file with this path, for this reason.
    case failed(String, reason: String)
}

/// The totals of an upload.
public struct UploadReport: Equatable, Sendable {
    /// The number of files sent.
    public internal(set) var sent = 0
    /// The number of files that the bucket already had.
    public internal(set) var unchanged = 0
    /// The number of files that could not be sent.
    public internal(set) var failed = 0
    /// Whether the list was sent.
    public internal(set) var isListNew = false
    /// Whether the run was interrupted.
    public internal(set) var isInterrupted = false

    /// Creates a report in which all numbers are zero.
    public init() {}

    /// The report of a run that was interrupted at its start.
    static var interrupted: UploadReport {
        var report = UploadReport()
        report.isInterrupted = true
        return report
    }

    mutating func add(_ other: UploadReport) {
        sent += other.sent
        failed += other.failed
        isInterrupted = isInterrupted || other.isInterrupted
    }
}

/// The reason why Vitrine cannot send a gallery, as a sentence for the user.
public struct UploadError: Error, Equatable, CustomStringConvertible {
    private let folder: Address
    private let reason: String
    /// The question for credentials that caused the error; nil for other errors.
    public let question: SignInQuestion?

    /// - Parameter isWriting: whether the service refused a file. Otherwise it refused to list the bucket's objects.
    init(_ folder: Address, _ error: RequestError, isWriting: Bool) {
        self.folder = folder
        question = error.failure.question
        switch error {
        case .bucket(let refusal) where refusal.isOfPermission:
            reason =
                isWriting
                ? "your access key may not write to this bucket: it lacks the permission s3:PutObject"
                : "your access key may not list this bucket: it lacks the permission s3:ListBucket"
        case .bucket(let refusal) where refusal.isOfRegion:
            reason = "the bucket is in the region \(refusal.region ?? "")"
        default: reason = error.failure.reason
        }
    }

    /// The folder's address and the reason.
    public var description: String { "\(folder): \(reason)" }
}

extension BucketRefusal {
    /// Whether the key is right but lacks a permission.
    fileprivate var isOfPermission: Bool { code == "AccessDenied" || code == "AllAccessDisabled" }

    /// Whether the service refuses all files alike.
    fileprivate var concernsAllFiles: Bool {
        status == 401 || status == 403 || isOfRegion || code == "NoSuchBucket"
    }

    /// Whether another attempt may succeed, for example after a slow connection.
    fileprivate var isTemporary: Bool { code == "RequestTimeout" || code == "OperationAborted" }
}

/// A file to send, and the file to send after it.
struct UploadJob: Sendable {
    let file: OutgoingFile
    /// The photo's thumbnail, which is sent next; nil for other files.
    let follower: OutgoingFile?
    /// The number of failed attempts.
    var attempts = 0

    init(_ file: OutgoingFile, then follower: OutgoingFile? = nil) {
        (self.file, self.follower) = (file, follower)
    }

    var fileCount: Int { follower == nil ? 1 : 2 }
}

/// Sends single files.
private struct FileSender: Sendable {
    /// An error of a file on this machine.
    struct FileTrouble: Error {
        let reason: String
    }

    let bucket: Bucket
    let folder: Address
    let log: Log
    private let credentials: CredentialStore
    private let client: HTTPClient

    /// The maximum number of bytes of an answer.
    private static let limit: ByteCount = 1 << 16
    /// The maximum number of requests in one attempt, each with other keys.
    private static let mostKeys = 4

    init(_ bucket: Bucket, _ folder: Address, _ credentials: CredentialStore, _ client: HTTPClient, _ log: Log) {
        (self.bucket, self.folder, self.credentials) = (bucket, folder, credentials)
        (self.client, self.log) = (client, log)
    }

    /// Sends a file. Throws an error if the file changes meanwhile. Then the next run sends the file again, because its
    /// thumbnail is not in the bucket.
    func send(_ file: OutgoingFile, with permit: TransferPermit) async throws {
        let address = try bucket.object(file.name)
        for attempt in 1... {
            let signIn = credentials.signIn(for: address, in: folder)
            let plan = try plan(file, address, signIn)
            do {
                var response = try await Response.to(plan, over: client, with: permit)
                while try await response.nextBytes() != nil {}
                break
            } catch RequestError.signIn(let question) where attempt < Self.mostKeys {
                guard await credentials.hasOther(than: signIn, for: question, in: folder) else {
                    throw RequestError.signIn(question)
                }
            }
        }
        close(try opened(file).descriptor)
        log.debug(.network, "sent \(address)")
    }

    private func plan(_ file: OutgoingFile, _ address: Address, _ signIn: SignIn?) throws -> FetchPlan {
        let (descriptor, mediaType) = try opened(file)
        let source = UploadFile(taking: descriptor, length: file.size)
        var plan = FetchPlan(
            address: address, method: .put, headers: [("Content-Type", mediaType)], signIn: signIn, limit: Self.limit,
            isNamedByUser: true, refusals: .asked(isOfBucket: true))
        var digest: String?
        // TLS already protects the bytes, and a digest would require reading the file twice.
        if address.scheme == .http, case .accessKey = signIn {
            do throws(SystemError) {
                digest = try ByteDigest.sha256.digits(ofFile: descriptor, length: file.size.int)
            } catch {
                throw FileTrouble(reason: "\(error)")
            }
        }
        plan.upload = HTTPRequest.Upload(source, digest: digest)
        return plan
    }

    private func opened(_ file: OutgoingFile) throws -> (descriptor: Int32, mediaType: String) {
        do { return try file.open() } catch { throw FileTrouble(reason: "\(error)") }
    }
}

/// Sends many files, as many at once as the governor allows.
///
/// Transfers report to the actor through `signals` and `ends`, because curl's thread must not wait for the actor.
private actor UploadRun {
    /// The unhandled ends of transfers, and whether the run was cancelled.
    private final class Ends: Sendable {
        private let ends = Mutex<[(number: Int, error: (any Error)?)]>([])
        private let isCancelled = Atomic(false)

        func add(_ number: Int, _ error: (any Error)?) { ends.withLock { $0.append((number, error)) } }

        func take() -> [(number: Int, error: (any Error)?)] {
            ends.withLock { ends in
                defer { ends = [] }
                return ends
            }
        }

        func cancel() { isCancelled.store(true, ordering: .relaxed) }

        var areCancelled: Bool { isCancelled.load(ordering: .relaxed) }
    }

    private let sender: FileSender
    private var governor: any Governor
    private let schedule: RetrySchedule
    private let clock: any NetworkClock
    private let total: Int
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let signals = CoalescingStream<Signal>()
    private let ends = Ends()
    private let candidate: TransferCandidate
    /// The jobs to start. The last job starts first.
    private var queue: [UploadJob] = []
    private var running: [Int: (job: UploadJob, attempt: Attempt)] = [:]
    private var waiting: [(job: UploadJob, until: Duration)] = []
    private var lastNumber = 0
    private var done = 0
    private var report = UploadReport()
    private var fatal: UploadError?
    /// The number of failures since the last success. After many, the run stops, because all files seem to fail.
    private var failuresInRow = 0
    private var tick = ClockAlarm()

    private static let mostFailuresInRow = 8

    init(
        _ sender: FileSender, _ governor: any Governor, _ schedule: RetrySchedule, _ clock: any NetworkClock,
        total: Int, _ onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) {
        (self.sender, self.governor, self.schedule, self.clock) = (sender, governor, schedule, clock)
        (self.total, self.onEvent) = (total, onEvent)
        let address = sender.bucket.root
        candidate = TransferCandidate(
            host: address.origin.map { $0.text } ?? "", isSecure: address.scheme == .https, importance: .near,
            kind: .upload)
        onEvent(.progress(0, of: total))
    }

    /// Sends files. Throws only errors that concern all files.
    func send(_ jobs: [UploadJob]) async throws(UploadError) -> UploadReport {
        (queue, report) = (jobs.reversed(), UploadReport())
        // The loop runs in a separate task that is not cancelled, because it must wait for the ends of cancelled
        // transfers.
        await withTaskCancellationHandler {
            await Task { await loop() }.value
        } onCancel: {
            ends.cancel()
            signals.send(Signal())
        }
        if let fatal { throw fatal }
        return report
    }

    private func loop() async {
        while true {
            for (number, error) in ends.take() { finish(number, error) }
            let isStopping = fatal != nil || ends.areCancelled
            if isStopping {
                for (_, attempt) in running.values { attempt.task.cancel() }
                if running.isEmpty { break }
            } else {
                advance()
                if running.isEmpty, queue.isEmpty, waiting.isEmpty { break }
            }
            setTick(isStopping: isStopping)
            _ = await signals.next()
        }
        tick.cancel()
        report.isInterrupted = ends.areCancelled
    }

    /// Reports progress to the governor, and starts the files that it admits.
    private func advance() {
        let now = clock.now
        for (number, (_, attempt)) in running {
            for event in attempt.takeEvents() { governor.record(event, of: number, at: now.seconds) }
        }
        for (job, until) in waiting where until <= now { queue.append(job) }
        waiting.removeAll { $0.until <= now }
        let count = queue.count
        // An interrupted file would have to be sent again from its beginning, so the result is ignored.
        _ = governor.advance(to: now.seconds) { _ in count }
        while let job = queue.last {
            var candidate = candidate
            candidate.length = Double(job.file.size)
            guard case .now = governor.admit(candidate, at: clock.now.seconds) else { break }
            queue.removeLast()
            start(job, candidate)
        }
    }

    private func start(_ job: UploadJob, _ candidate: TransferCandidate) {
        lastNumber += 1
        let number = lastNumber
        let way = Admission.Way(.unshared)
        governor.recordStart(of: number, candidate, over: way, at: clock.now.seconds)
        let permit = TransferPermit(candidate.importance, over: way) { [signals] in signals.send(Signal()) }
        let task = Task { [sender, ends, signals] in
            do {
                try await sender.send(job.file, with: permit)
                ends.add(number, nil)
            } catch {
                ends.add(number, error)
            }
            signals.send(Signal())
        }
        running[number] = (job, Attempt(number, permit, task, isUpload: true))
    }

    /// Wakes the loop when the governor needs it or a wait ends.
    private func setTick(isStopping: Bool) {
        let now = clock.now
        let count = queue.count
        let pace = governor.timeUntilAdvance(at: now.seconds) { _ in count }.map { now + .seconds(clamped: $0) }
        let times = [pace, waiting.map(\.until).min()].compactMap { $0 }
        if let time = tick.time, time <= now { tick.cancel() }
        tick.set(to: isStopping ? nil : times.min(), clock) { [signals] _ in signals.send(Signal()) }
    }

    private func finish(_ number: Int, _ error: (any Error)?) {
        guard let (job, attempt) = running.removeValue(forKey: number) else { return }
        let now = clock.now
        for event in attempt.takeEvents() { governor.record(event, of: number, at: now.seconds) }
        let failure = error.flatMap { $0 is CancellationError || $0 is FileSender.FileTrouble ? nil : RequestError($0) }
        if !attempt.isTransferred {
            let ending: TransferEvent.Ending = error == nil ? .completed : failure?.ending ?? .cancelled
            governor.record(.ended(ending), of: number, at: now.seconds)
        }
        switch error {
        case nil: succeed(job)
        case is CancellationError: break
        case let trouble as FileSender.FileTrouble: fail(job, trouble.reason)
        default: if let failure { fail(job, NetworkPresence.refine(failure)) }
        }
    }

    private func succeed(_ job: UploadJob) {
        failuresInRow = 0
        report.sent += 1
        done += 1
        onEvent(.sent(job.file.path))
        onEvent(.progress(done, of: total))
        if let thumbnail = job.follower { queue.append(UploadJob(thumbnail)) }
    }

    private func fail(_ job: UploadJob, _ error: RequestError) {
        if error.isComplaint {
            let silence = schedule.silence(retryAfter: error.silence)
            governor.recordComplaint(of: candidate.host, silence: Double(silence), at: clock.now.seconds)
        }
        var (job, isTemporary) = (job, error.failure.isTemporary)
        switch error {
        case .signIn: return stop(error)
        case .bucket(let refusal):
            if refusal.concernsAllFiles { return stop(error) }
            isTemporary = refusal.isTemporary
        default: break
        }
        job.attempts += 1
        if isTemporary, let delay = schedule.delay(afterAttempts: job.attempts, retryAfter: error.retryAfter) {
            waiting.append((job, clock.now + delay))
            return
        }
        failuresInRow += 1
        // Several files in a row failed, or the server is unreachable. So the other files would probably fail, too.
        if isTemporary && failuresInRow > 1 || failuresInRow >= Self.mostFailuresInRow || error.ending == .unreachable {
            return stop(error)
        }
        fail(job, error.failure.reason)
    }

    private func fail(_ job: UploadJob, _ reason: String) {
        report.failed += 1
        done += job.fileCount
        onEvent(.failed(job.file.path, reason: reason))
        onEvent(.progress(done, of: total))
    }

    private func stop(_ error: RequestError) {
        if fatal == nil { fatal = UploadError(sender.folder, error, isWriting: true) }
    }
}
