import Model
import Publishing
import Concurrency
import Synchronization
import Text

/// `vitrine publish`: turns a folder of photos into a gallery.
struct PublishCommand {
    let services: Services

    func run(_ folder: String) async throws -> Int32 {
        let working = Task { try await publish(folder) }
        let interruption = Interruption { working.cancel() }
        let code = try await working.value
        return interruption.exitCode ?? code.rawValue
    }

    private func publish(_ folder: String) async throws -> ExitCode {
        let publisher = try Publisher(
            folder, mask: services.creationMask, decoder: services.decoder,
            decoderEdition: services.installation.decoderEdition, width: Services.cores)
        let progress = ProgressLine()
        let report = try await publisher.run(countsFirst: Output.showsProgress) { event in
            switch event {
            case .progress(let done, let total): progress.show(done, total)
            case .failed(let path, let reason): progress.interrupt { Output.complain("\(path): \(reason)") }
            case .cutShort(let path): progress.interrupt { Output.complain("\(path) is truncated.") }
            case .added(let path): Self.printChange("added", path)
            case .changed(let path): Self.printChange("changed", path)
            case .removed(let path): Self.printChange("removed", path)
            }
        }
        Output.progress("")
        if report.isInterrupted {
            Output.complain("Interrupted: the gallery is unchanged. Run the same command to continue.")
            return .someFailed
        }
        Output.print("\(folder.madeVisible)\t\(Self.text(report))")
        return report.failed == 0 ? .done : .someFailed
    }

    /// Prints a change and the photo's path, unless a terminal shows the progress.
    private static func printChange(_ change: String, _ path: String) {
        if !Output.isTerminal { Output.print("\(change)\t\(path.madeVisible)") }
    }

    private static func text(_ report: PublishReport) -> String {
        var parts = [CountText.text(report.photos, "photo")]
        if report.added > 0 { parts.append("\(report.added) added") }
        if report.changed > 0 { parts.append("\(report.changed) changed") }
        if report.removed > 0 { parts.append("\(report.removed) removed") }
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        for (format, count) in report.unread.sorted(by: { $0.key < $1.key }) {
            parts.append("\(count) unsupported: \(format.madeVisible)")
        }
        if report.others > 0 { parts.append(CountText.text(report.others, "other file") + " ignored") }
        if !report.isListNew { parts.append("nothing new") }
        return parts.joined(separator: ", ")
    }

    /// Shows progress on a terminal, at most ten times a second.
    private final class ProgressLine: Sendable {
        private let clock = BootClock()
        private let next = Mutex(Duration.zero)

        func show(_ done: Int, _ total: Int?) {
            let now = clock.now
            let isDue = next.withLock { next in
                guard now >= next || done == total else { return false }
                next = now + .milliseconds(100)
                return true
            }
            if isDue { Output.progress(total.map { "\(done) of \($0) files" } ?? CountText.text(done, "file")) }
        }

        /// Clears the progress line, and then prints something else.
        func interrupt(_ print: () -> Void) {
            Output.progress("")
            print()
            next.withLock { $0 = .zero }
        }
    }
}
