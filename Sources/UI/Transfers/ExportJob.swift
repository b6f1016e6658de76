import Export
import Model
import Text

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
