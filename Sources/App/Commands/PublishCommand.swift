import Concurrency
import Glibc
import Model
import Networking
import Publishing
import Synchronization
import Text

/// `vitrine publish`: turns a folder of photos into a gallery. The command can also send the gallery to a bucket.
struct PublishCommand {
    let services: Services

    /// The error for a text that cannot be the address of a bucket.
    struct NoBucket: Error, CustomStringConvertible {
        let text: String

        /// A sentence for the user.
        var description: String {
            "“\(text)” names no bucket: write s3://BUCKET/PREFIX or https://SERVER/BUCKET/PREFIX."
        }
    }

    func run(_ folder: String, to bucket: String?) async throws -> Int32 {
        // Check the address first, so that the user learns of a typing mistake before the long publishing.
        let address = try bucket.map(address)
        guard address == nil || !services.settings.offline else {
            Output.complain("Vitrine sends nothing: the setting “offline” is on.")
            return ExitCode.someFailed.rawValue
        }
        let interruption = Interruption(services.output)
        let working = Task { try await publish(folder, to: address) }
        interruption.whenItComes { working.cancel() }
        let code = try await working.value
        return interruption.exitCode ?? code.rawValue
    }

    private func address(_ text: String) throws -> Address {
        let isBucket = BucketService.isBucket(text)
        let address = isBucket ? try services.accessKeyFiles.service().address(text) : try? Address(text)
        guard let address, address.scheme != .file, isBucket || address.query == nil else { throw NoBucket(text: text) }
        return address
    }

    private func publish(_ folder: String, to address: Address?) async throws -> ExitCode {
        let publisher = try Publisher(
            folder, mask: services.creationMask, decoder: services.decoder,
            decoderEdition: services.installation.decoderEdition, width: Services.cores)
        let progress = ProgressLine()
        let report: PublishReport
        do {
            defer { Output.progress("") }
            report = try await publisher.run(
                countsFirst: Output.showsProgress, collectsFiles: address != nil
            ) { event in
                switch event {
                case .progress(let done, let total): progress.show(done, total)
                case .failed(let path, let reason): progress.interrupt { Output.complain("\(path): \(reason)") }
                case .cutShort(let path): progress.interrupt { Output.complain("\(path) is truncated.") }
                case .added(let path): printChange("added", path)
                case .changed(let path): printChange("changed", path)
                case .removed(let path): printChange("removed", path)
                }
            }
        }
        if report.isInterrupted {
            Output.complain("Interrupted: the gallery is unchanged. Run the same command to continue.")
            return .someFailed
        }
        services.output.print("\(folder.madeVisible)\t\(Self.text(report))")
        var code = report.failed == 0 ? ExitCode.done : .someFailed
        if let address, let gallery = await publisher.gallery {
            if try await send(gallery, to: address) != .done { code = .someFailed }
        }
        return code
    }

    /// Sends a published gallery to a bucket.
    private func send(_ gallery: PublishedGallery, to address: Address) async throws -> ExitCode {
        let upload = GalleryUpload(
            to: address, credentials: services.credentials, client: services.makeClient(),
            governor: services.uploadGovernor, log: services.log)
        let photos = gallery.photos.map {
            OutgoingPhoto(original: OutgoingFile($0.original), thumbnail: OutgoingFile($0.thumbnail))
        }
        let progress = ProgressLine()
        let onEvent: @Sendable (UploadEvent) -> Void = { event in
            switch event {
            case .progress(let done, let total): progress.show(done, total, "sent")
            case .failed(let path, let reason): progress.interrupt { Output.complain("\(path): \(reason)") }
            case .sent(let path): printChange("sent", path)
            }
        }
        var finished: UploadReport?
        while finished == nil {
            do throws(UploadError) {
                finished = try await upload.run(photos, list: OutgoingFile(gallery.list), onEvent: onEvent)
            } catch {
                Output.progress("")
                guard let question = error.question, question.wantsAccessKey, TerminalPrompt.canBeAsked else {
                    throw error
                }
                Output.complain("\(error)")
                guard let id = TerminalPrompt.answer("Access key: "),
                    let secret = TerminalPrompt.answer("Secret: ", isSecret: true)
                else { return .someFailed }
                services.credentials.take(question.signIn(name: id, secret: secret), for: question.place)
            }
        }
        let report = finished ?? UploadReport()
        Output.progress("")
        if report.isInterrupted {
            Output.complain("Interrupted: the list in the bucket is unchanged. Run the same command to continue.")
            return .someFailed
        }
        services.output.print("\(address.description.madeVisible)\t\(Self.text(report))")
        guard report.failed > 0 else { return .done }
        Output.complain(
            "\(address): the list in the bucket is unchanged, because the bucket lacks files of the new list."
        )
        return .someFailed
    }

    private static func text(_ report: UploadReport) -> String {
        var parts = [CountText.text(report.sent, "file", nil, .plain) + " sent"]
        if report.unchanged > 0 { parts.append("\(report.unchanged) unchanged") }
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        return parts.joined(separator: ", ")
    }

    /// Prints a change and the photo's path, unless a terminal shows the progress.
    private func printChange(_ change: String, _ path: String) {
        if !Output.isTerminal { services.output.print("\(change)\t\(path.madeVisible)") }
    }

    private static func text(_ report: PublishReport) -> String {
        var parts = [CountText.text(report.photos, "photo", nil, .plain)]
        if report.added > 0 { parts.append("\(report.added) added") }
        if report.changed > 0 { parts.append("\(report.changed) changed") }
        if report.removed > 0 { parts.append("\(report.removed) removed") }
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        for (format, count) in report.unread.sorted(by: { $0.key < $1.key }) {
            parts.append("\(count) unsupported: \(format.madeVisible)")
        }
        if report.others > 0 { parts.append(CountText.text(report.others, "other file", nil, .plain) + " ignored") }
        if !report.isListNew { parts.append("nothing new") }
        return parts.joined(separator: ", ")
    }

    /// Shows progress on a terminal, at most ten times a second.
    private final class ProgressLine: Sendable {
        private let clock = BootClock()
        private let next = Mutex(Duration.zero)

        /// - Parameter verb: a word such as “sent” after the number of files; nil for none.
        func show(_ done: Int, _ total: Int?, _ verb: String? = nil) {
            let now = clock.now
            let isDue = next.withLock { next in
                guard now >= next || done == total else { return false }
                next = now + .milliseconds(100)
                return true
            }
            guard isDue else { return }
            let text = total.map { "\(done) of \($0) files" } ?? CountText.text(done, "file")
            Output.progress(verb.map { "\(text) \($0)" } ?? text)
        }

        /// Clears the progress line, and then prints something else.
        func interrupt(_ print: () -> Void) {
            Output.progress("")
            print()
            next.withLock { $0 = .zero }
        }
    }
}

extension OutgoingFile {
    /// Creates the description of a published file.
    fileprivate init(_ file: PublishedFile) {
        self.init(path: file.path, size: file.size) { try file.open() }
    }
}

/// Asks the user for a line at the terminal, for commands without a screen.
enum TerminalPrompt {
    /// The maximum length of a line, in bytes.
    private static let longest = 4_096
    /// The longest time until a cancelled question ends, in milliseconds.
    private static let patience: Int32 = 200

    /// Whether the user can answer. A program in the background must not read from the terminal.
    static var canBeAsked: Bool {
        isatty(STDIN_FILENO) == 1 && Output.showsProgress && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    /// Returns the typed line. Returns nil if the line is empty, at the end of the input, and after a cancellation.
    ///
    /// - Parameter isSecret: whether the terminal hides the typed line.
    static func answer(_ question: String, isSecret: Bool = false) -> String? {
        var modes = termios()
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else { return nil }
        if isSecret {
            var silent = modes
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        defer {
            if isSecret { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
            Output.progress("")
        }
        Output.progress(question)
        return line()
    }

    private static func line() -> String? {
        var bytes: [UInt8] = []
        while !Task.isCancelled {
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // A signal ends the wait too.
            guard poll(&waiting, 1, patience) > 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if bytes.count < longest { bytes.append(byte) }
        }
        return nil
    }
}
