import Cache
import Export
import Model
import Session
import Text

/// What is being saved to folders of the user's, whatever screen he looks at.
///
///     exports.begin(keys, of: cache, to: "/home/me/Pictures", name: "3 photos", gallery: "example.org")
///
/// It is done out of the screens' way, and goes on behind them. Each says what has become of it when it ends; those that are
/// under way when the program ends are stopped, and say what is left.
@MainActor
final class Exports {
    /// Those that are under way, the oldest first.
    private(set) var jobs: [ExportJob] = []
    /// Called when one has begun, has come farther, or has ended.
    var onChange: () -> Void = {}
    /// Called with what has become of one.
    var onEnd: (String) -> Void = { _ in }
    /// The folder that is proposed: the one of last time.
    var folder: String
    private var endings: [Int: Task<String, Never>] = [:]
    private var lastNumber = 0
    private let mask: CreationMask
    private let wishes: Wishes
    private let mayFetch: Bool

    /// - Parameters:
    ///   - folder: what is proposed at first.
    ///   - mask: what permissions the user's files get.
    ///   - mayFetch: whether somebody fulfils wishes.
    init(folder: String, mask: CreationMask, wishes: Wishes, mayFetch: Bool) {
        (self.folder, self.mask, self.wishes, self.mayFetch) = (folder, mask, wishes, mayFetch)
    }

    /// Begins to save photos.
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
                job.take(event)
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

    /// Stops what is under way, and waits until it has. Returns what has become of each, and how to go on with what is left.
    func finish() async -> (outcomes: [String], rests: [ExportRest]) {
        let stopped = jobs
        for job in stopped { job.cancel() }
        var (outcomes, rests): ([String], [ExportRest]) = ([], [])
        for (_, ending) in endings.sorted(by: { $0.key < $1.key }) { outcomes.append(await ending.value) }
        for job in stopped { if let rest = await job.rest() { rests.append(rest) } }
        return (outcomes, rests)
    }

    /// For the status line of any screen: `saving 3 of 28`; nil if nothing is being saved.
    var indicator: String? {
        guard !jobs.isEmpty else { return nil }
        let (done, count) = jobs.reduce((0, 0)) { ($0.0 + $1.done, $0.1 + $1.count) }
        return "saving \(done) of \(count)"
    }
}

/// Photos that are being saved to a folder, and how far that has come.
@MainActor
final class ExportJob {
    /// Tells it from others.
    let number: Int
    /// What is saved: a photo's name, or how many they are.
    let name: String
    /// What their gallery is called.
    let gallery: String
    /// Where they go. As it was typed.
    let folder: String
    /// How many they are.
    let count: Int
    /// How many it has come to.
    private(set) var done = 0
    /// The first that could not be saved, and why.
    private(set) var failure: String?
    private let work: Task<Result<PhotoExport.Report, any Error>, Never>

    init(
        number: Int, name: String, gallery: String, folder: String, count: Int,
        work: Task<Result<PhotoExport.Report, any Error>, Never>
    ) {
        (self.number, self.name, self.gallery, self.folder) = (number, name, gallery, folder)
        (self.count, self.work) = (count, work)
    }

    /// How far it has come, of all.
    var fraction: Double { count > 0 ? Double(done) / Double(count) : 1 }

    /// `3 of 28`.
    var progress: String { "\(done) of \(count)" }

    /// Takes in what has become of one of them.
    func take(_ event: PhotoExport.Event) {
        done = max(done, event.number)
        guard case .failure(let error) = event.result, failure == nil else { return }
        failure = event.photo.map { "“\($0.name.madeVisible)”: \(error)" } ?? "\(error)"
    }

    /// It stops after the photo at hand. What is saved stays, and what is left can be saved at another time.
    func cancel() { work.cancel() }

    /// Waits for its end. Returns what has become of it, a sentence or two.
    func outcome() async -> String {
        switch await work.value {
        case .success(let report): sentence(report)
        case .failure(let error): "\(error)"
        }
    }

    /// Waits for its end. Returns how to go on with what is left, if anything is.
    func rest() async -> ExportRest? {
        if case .success(let report) = await work.value { report.rest } else { nil }
    }

    private func sentence(_ report: PhotoExport.Report) -> String {
        let folder = folder.madeVisible
        guard report.failed > 0 || report.left > 0 else {
            return count == 1 ? "\(name) is in \(folder)." : "\(CountText.text(count, "photo")) are in \(folder)."
        }
        if count == 1, let failure { return failure }
        if count == 1 { return "\(name) is not in \(folder) yet; saving it once more goes on." }
        var sentences = ["\(report.exported) of \(CountText.text(count, "photo")) are in \(folder)."]
        if let failure {
            sentences.append((report.failed > 1 ? "\(report.failed) could not be saved. " : "") + failure)
        }
        if report.left > 0 { sentences.append("\(report.left) are left; saving them once more goes on.") }
        return sentences.joined(separator: " ")
    }
}
