import Cache
import Export
import Model
import Session
import Text

/// The running exports, which save photos to the user's folders.
///
///     exports.begin(keys, of: cache, to: "/home/me/Pictures", name: "3 photos", gallery: "example.org")
///
/// Exports run in the background, and each reports its result. When Vitrine ends, the exports stop and report which photos are
/// left.
@MainActor
final class Exports {
    /// The running exports, oldest first.
    private(set) var jobs: [ExportJob] = []
    /// Called when an export begins, makes progress or ends.
    var onChange: () -> Void = {}
    /// Called with a sentence about the result when an export ends.
    var onEnd: (String) -> Void = { _ in }
    /// The folder to suggest, which is the folder of the last export.
    var folder: String
    private var endings: [Int: Task<String, Never>] = [:]
    /// The running writes of ratings.
    private var ratingWork: [Int: Task<String, Never>] = [:]
    private var lastNumber = 0
    private let mask: CreationMask
    private let wishes: Wishes
    /// Whether missing photos can be fetched. Not private because the setting may change.
    var mayFetch: Bool

    /// Creates the list of exports, which is empty.
    ///
    /// - Parameters:
    ///   - folder: the first proposed folder.
    ///   - mask: the permissions of the user's files.
    ///   - mayFetch: whether missing photos can be fetched.
    init(folder: String, mask: CreationMask, wishes: Wishes, mayFetch: Bool) {
        (self.folder, self.mask, self.wishes, self.mayFetch) = (folder, mask, wishes, mayFetch)
    }

    /// Starts to save photos to a folder.
    func begin(_ keys: [PhotoKey], of cache: GalleryCache, to folder: String, name: String, gallery: String) {
        let (events, continuation) = AsyncStream<PhotoExport.Event>.makeStream()
        let work = Task.detached { [mask, wishes, mayFetch] () -> Result<PhotoExport.Report, any Error> in
            defer { continuation.finish() }
            do {
                let export = try PhotoExport(
                    keys, of: cache, to: folder, mask: mask, wishes: wishes, mayFetch: mayFetch)
                return .success(try await export.run { continuation.yield($0) })
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
        if left > 0 { return "Wrote \(CountText.text(report.written, "rating")); \(left) left." }
        if let failure = report.failure {
            return "Wrote \(CountText.text(report.written, "rating")); \(report.failed) failed: \(failure)"
        }
        if report.elsewhere > 0, report.written + report.unchanged == 0 {
            return "Vitrine writes XMP files only in local folders."
        }
        return report.written == 0
            ? "Nothing to write: the photos have no ratings, or their XMP files already have them."
            : "Wrote \(CountText.text(report.written, "rating")) to XMP files beside the photos."
    }

    /// Stops all exports. Returns their results, and the arguments that continue each export.
    func finish() async -> (outcomes: [String], rests: [ExportRest]) {
        let stopped = jobs
        for job in stopped { job.cancel() }
        var (outcomes, rests): ([String], [ExportRest]) = ([], [])
        let ratings = ratingWork.sorted { $0.key < $1.key }.map(\.value)
        ratingWork = [:]
        for work in ratings {
            work.cancel()
            outcomes.append(await work.value)
        }
        for (_, ending) in endings.sorted(by: { $0.key < $1.key }) { outcomes.append(await ending.value) }
        for job in stopped { if let rest = await job.rest() { rests.append(rest) } }
        return (outcomes, rests)
    }

    /// The text about exports for status lines, such as `saving 3 of 28`; nil if no export runs.
    var indicator: String? {
        guard !jobs.isEmpty else { return nil }
        let (done, count) = jobs.reduce((0, 0)) { ($0.0 + $1.done, $0.1 + $1.count) }
        return "saving \(done) of \(count)"
    }
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
    /// The name of the first photo that failed, and the reason.
    private(set) var failure: String?
    private let work: Task<Result<PhotoExport.Report, any Error>, Never>

    init(
        number: Int, name: String, gallery: String, folder: String, count: Int,
        work: Task<Result<PhotoExport.Report, any Error>, Never>
    ) {
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
        guard case .failure(let error) = event.result, failure == nil else { return }
        failure = event.photo.map { "“\($0.name.madeVisible)”: \(error)" } ?? "\(error)"
    }

    /// Stops the export after the current photo. A later export can save the rest.
    func cancel() { work.cancel() }

    /// Waits for the end of the export. Returns the result in one or two sentences.
    func outcome() async -> String {
        switch await work.value {
        case .success(let report): sentence(report)
        case .failure(let error): "\(error)"
        }
    }

    /// Waits for the end of the export. Returns the arguments that continue the export, if photos are left.
    func rest() async -> ExportRest? {
        if case .success(let report) = await work.value { report.rest } else { nil }
    }

    private func sentence(_ report: PhotoExport.Report) -> String {
        let folder = folder.madeVisible
        guard report.failed > 0 || report.left > 0 else {
            return "Saved \(count == 1 ? name : CountText.text(count, "photo")) to \(folder)."
        }
        if count == 1, let failure { return failure }
        if count == 1 { return "\(name): not saved yet; save again to continue." }
        var sentences = ["Saved \(report.exported) of \(CountText.text(count, "photo")) to \(folder)."]
        if let failure {
            sentences.append((report.failed > 1 ? "\(report.failed) failed. " : "") + failure)
        }
        if report.left > 0 { sentences.append("\(report.left) not saved yet; save again to continue.") }
        return sentences.joined(separator: " ")
    }
}
