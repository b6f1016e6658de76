import Cache
import Export
import Model
import Session
import Text

/// The running exports, which save photos to the user's folders.
///
///     exports.begin(keys, of: cache, to: "/home/me/Pictures", name: "3 photos", gallery: "example.org")
///
/// Exports run in the background, and each reports its result. When Vitrine ends, the exports stop, and the program
/// continues them in another process or reports which photos are left.
@MainActor
final class Exports {
    /// The running exports, oldest first.
    private(set) var jobs: [ExportJob] = []
    /// Called when an export begins, makes progress or ends.
    var onChange: () -> Void = {}
    /// Called with a sentence about the result when an export ends.
    var onEnd: (String) -> Void = { _ in }
    /// The folder to suggest. After an export, this is the folder of the last export.
    var folder: String
    private var endings: [Int: Task<String, Never>] = [:]
    /// The running tasks that write ratings.
    private var ratingWork: [Int: Task<String, Never>] = [:]
    /// The user's answer whether exports continue after Vitrine ends; nil without an answer.
    private var mayContinue: Bool?
    private var lastNumber = 0
    private let mask: CreationMask
    private let wishes: Wishes
    private let retries: RetryWatch
    /// Whether exports may fetch photos from servers. Not private because the user may change the offline setting.
    var mayFetch: Bool

    /// Creates an empty list of exports.
    ///
    /// - Parameters:
    ///   - folder: the folder to suggest first.
    ///   - mask: the permissions that new files may have.
    ///   - mayFetch: whether exports may fetch photos from servers.
    init(folder: String, mask: CreationMask, wishes: Wishes, retries: RetryWatch, mayFetch: Bool) {
        (self.folder, self.mask, self.mayFetch) = (folder, mask, mayFetch)
        (self.wishes, self.retries) = (wishes, retries)
    }

    /// Starts to save photos to a folder.
    func begin(_ keys: [PhotoKey], of cache: GalleryCache, to folder: String, name: String, gallery: String) {
        let (events, continuation) = AsyncStream<PhotoExport.Event>.makeStream()
        let work = Task.detached { [mask, wishes, retries, mayFetch] () -> ExportJob.Outcome in
            defer { continuation.finish() }
            do {
                let export = try PhotoExport(
                    keys, of: cache, to: folder, mask: mask, wishes: wishes,
                    mayFetch: { mayFetch || cache.isLocal($0) }, retries: retries)
                let report = try await export.run { continuation.yield($0) }
                return .success((report, export))
            } catch {
                return .failure(error)
            }
        }
        lastNumber += 1
        let job = ExportJob(
            number: lastNumber, name: name, gallery: gallery, folder: folder, count: keys.count, work: work)
        jobs.append(job)
        endings[job.number] = Task {
            for await event in events {
                job.record(event)
                onChange()
            }
            let outcome = await job.outcome()
            jobs.removeAll { $0 === job }
            endings[job.number] = nil
            onEnd(outcome)
            onChange()
            return outcome
        }
        onChange()
    }

    /// Writes the ratings of photos beside their files, and reports the result.
    func writeRatings(of keys: [PhotoKey], in cache: GalleryCache) {
        let work = Task.detached { [mask] in
            do { return Self.text(try await RatingSidecars(of: cache, mask: mask).write(keys), of: keys.count) } catch {
                return "\(error)"
            }
        }
        lastNumber += 1
        let number = lastNumber
        ratingWork[number] = work
        Task {
            let outcome = await work.value
            if ratingWork.removeValue(forKey: number) != nil { onEnd(outcome) }
        }
    }

    private nonisolated static func text(_ report: RatingSidecars.Report, of count: Int) -> String {
        let left = count - report.written - report.unchanged - report.elsewhere - report.failed
        if left > 0 { return "Wrote \(CountText.text(report.written, "rating")); \(left) not written." }
        if let failure = report.failure {
            return "Wrote \(CountText.text(report.written, "rating")); \(report.failed) failed: \(failure)"
        }
        if report.elsewhere > 0, report.written + report.unchanged == 0 {
            return "Vitrine writes XMP files only in local folders."
        }
        return report.written == 0
            ? "Nothing to write: the photos have no ratings, or their XMP files are up to date."
            : "Wrote \(CountText.text(report.written, "rating")) to XMP files beside the photos."
    }

    /// Returns the question to ask before Vitrine ends; nil if no export runs.
    func question(beforeQuitting quit: @escaping @MainActor () -> Void) -> InterfaceEvent? {
        guard let progress else { return nil }
        return .choose(
            "Vitrine has saved \(progress) so far.",
            [
                Choice("b", "quit and continue the export in the background") { [weak self] in
                    self?.mayContinue = true
                    quit()
                },
                Choice("s", "quit and stop the export") { [weak self] in
                    self?.mayContinue = false
                    quit()
                },
            ], otherwise: "stay")
    }

    /// Stops all exports. Returns the results of finished work, and the unfinished exports.
    func finish() async -> (outcomes: [String], unfinished: [UnfinishedExport]) {
        // Copy the jobs, because an export that ends leaves the list.
        let stopped = jobs.map { (job: $0, ending: endings[$0.number]) }
        for (job, _) in stopped { job.cancel() }
        var (outcomes, unfinished): ([String], [UnfinishedExport]) = ([], [])
        let ratings = ratingWork.sorted { $0.key < $1.key }.map(\.value)
        ratingWork = [:]
        for work in ratings {
            work.cancel()
            outcomes.append(await work.value)
        }
        for (job, ending) in stopped {
            let outcome = if let ending { await ending.value } else { await job.outcome() }
            if let rest = await job.rest() {
                unfinished.append(
                    UnfinishedExport(outcome: outcome, failure: job.failure, rest: rest, mayContinue: mayContinue))
            } else {
                outcomes.append(outcome)
            }
        }
        return (outcomes, unfinished)
    }

    /// The text about exports for status lines, such as `saving 3 of 28 photos`; nil if no export runs.
    var indicator: String? { progress.map { "saving \($0)" } }

    /// The number of saved photos as text, such as `3 of 28 photos`; nil if no export runs.
    private var progress: String? {
        guard !jobs.isEmpty else { return nil }
        let (done, count) = jobs.reduce((0, 0)) { ($0.0 + $1.done, $0.1 + $1.count) }
        return "\(NumberFormat.current.text(done)) of \(CountText.text(count, "photo"))"
    }
}

/// An export that stopped because Vitrine ends.
public struct UnfinishedExport: Sendable {
    /// The result so far, as one or two sentences.
    public let outcome: String
    /// The failure to report, with the name of its photo; nil if no photo failed.
    public let failure: String?
    /// The arguments that continue the export.
    public let rest: ExportRest
    /// The user's answer whether the export continues in the background; nil if Vitrine did not ask.
    public let mayContinue: Bool?
}

/// An export of photos to a folder, with its progress.
@MainActor
final class ExportJob {
    /// Identifies the export among all exports of this run.
    let number: Int
    /// The photo's name, or the number of photos as text.
    let name: String
    /// The title of the photos' gallery.
    let gallery: String
    /// The destination folder, as the user typed it.
    let folder: String
    /// The number of photos to save.
    let count: Int
    /// The number of photos saved or failed so far.
    private(set) var done = 0
    /// The failure to report, with the name of its photo.
    private(set) var failure: String?
    private let work: Task<Outcome, Never>

    /// The totals of the work, and the ended export; or the error that ended it.
    typealias Outcome = Result<(report: PhotoExport.Report, export: PhotoExport), any Error>

    init(number: Int, name: String, gallery: String, folder: String, count: Int, work: Task<Outcome, Never>) {
        (self.number, self.name, self.gallery, self.folder) = (number, name, gallery, folder)
        (self.count, self.work) = (count, work)
    }

    /// The progress as a fraction from 0 to 1.
    var fraction: Double { count > 0 ? Double(done) / Double(count) : 1 }

    /// The progress as text, such as `3 of 28`.
    var progress: String { "\(done) of \(count)" }

    /// Records the result for one photo.
    func record(_ event: PhotoExport.Event) {
        done = max(done, event.number)
        failure = event.failure(after: failure)
    }

    /// Stops the export after the current photo. A later export can save the rest.
    func cancel() { work.cancel() }

    /// Waits for the end of the export. Returns the result in one or two sentences.
    func outcome() async -> String {
        switch await work.value {
        case .success(let end): end.report.sentence(name, of: count, to: folder, failure: failure)
        case .failure(let error): "\(error)"
        }
    }

    /// Waits for the end of the export. Returns the arguments that continue the export, if photos are left.
    ///
    /// Reading the arguments of a long export takes seconds. If the cache is unreadable, the user can save the photos
    /// again.
    func rest() async -> ExportRest? {
        guard case .success(let end) = await work.value else { return nil }
        return try? await end.export.rest()
    }
}
