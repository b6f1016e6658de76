import Cache
import Concurrency
import Export
import FetcherWire
import Glibc
import Logging
import Model
import Sandbox
import Session
import Settings
import Synchronization
import Text

/// An export that outlives the full-screen browser in its own process.
///
///     try await UnattendedExport(rest, credentials, script: path).start(services)    // in the browser
///     let code = try await UnattendedExport.run(in: services)                        // `vitrine export --unattended`
///
/// The browser starts `vitrine export --unattended` and sends it the arguments over its standard input. Addresses and
/// passwords therefore appear in no list of processes. Vitrine shows the result at its next start.
struct UnattendedExport: WireValue {
    private let gallery: Address
    private let folder: String
    private let ids: [String]
    private let credentials: [SignInPlace: EnteredCredentials.Entry]
    /// The path of a script that continues the export if this process is interrupted.
    private let script: String?

    /// The command of the new process.
    private static let arguments = ["export", "--unattended"]

    /// - Parameters:
    ///   - credentials: the credentials that the browser knows.
    ///   - script: the path of a script that continues the export. The new process removes the script when all photos
    ///     are saved.
    init(_ rest: ExportRest, _ credentials: CredentialStore, script: String?) {
        (gallery, folder, ids) = (rest.gallery, rest.folder, rest.ids)
        self.credentials = credentials.credentials(for: rest.gallery).entries
        self.script = script
    }

    init(from reader: inout WireReader) throws(WireError) {
        (gallery, folder) = (try reader.value(), try reader.value())
        (ids, credentials, script) = (try reader.value(), try reader.value(), try reader.value())
    }

    func write(to writer: inout WireWriter) {
        writer.append(gallery, folder, ids, credentials, script)
    }

    // MARK: - In the browser

    /// Starts the process. Returns when the process has taken over the export, or throws an error.
    func start(_ services: Services) async throws {
        let (connection, other) = try MessageConnection.pair()
        let settings = services.invocation.settingArguments + services.live.changedArguments
        let program = try {
            defer { close(other) }
            return try services.launcher.start(
                [services.installation.program] + settings + Self.arguments, input: other)
        }()
        // Limit the time that the browser takes to quit.
        let timeout = Task {
            try await BootClock().sleep(until: BootClock().now + Self.patience)
            connection.end()
        }
        defer { timeout.cancel() }
        let hasBegun = Atomic(false)
        if await MessageSender(connection).send(self) {
            await MessageReceiver(connection).run { (answer: Bool) in
                hasBegun.store(answer, ordering: .relaxed)
                // Quitting must not wait for the end of the other process.
                connection.end()
            } onFailure: { [log = services.log] in
                log.error(.cache, "\($0)")
            }
        }
        guard hasBegun.load(ordering: .relaxed) else {
            // The browser will print a command that continues the export, so the new process must not continue it, too.
            program.end(after: 0)
            throw NotStarted()
        }
    }

    private static let patience = Duration.seconds(5)

    private struct NotStarted: Error, CustomStringConvertible {
        let description = "The process that should finish the export does not answer."
    }

    // MARK: - In the new process

    /// The error for a user who starts the process by hand.
    struct NotForUsers: Error, CustomStringConvertible {
        let description =
            "The option --unattended is for Vitrine itself. To save photos, run “vitrine export GALLERY FOLDER”."
    }

    /// Receives an export, and finishes it.
    static func run(in services: Services) async throws -> Int32 {
        let connection = MessageConnection(adopting: STDIN_FILENO)
        guard let export = try? connection.receive(UnattendedExport.self) else { throw NotForUsers() }
        return await export.run(in: services) {
            (try? connection.send(true)) != nil
        }
    }

    /// - Parameter onBegin: called as soon as the next start of Vitrine would report the export. Returns false if the
    ///   browser no longer waits for this process.
    private func run(in services: Services, onBegin: () -> Bool) async -> Int32 {
        for (place, entry) in credentials { services.credentials.take(entry.signIn, for: place, by: entry.galleries) }
        // A long text must not push the advice out of a report.
        let work = "photos of \(gallery) to \(folder)".madeVisible.cut(toBytes: Self.longestResult)
        let advice = script.map { "To continue, run: sh \($0.shellWord)" } ?? "To continue, save the photos again."
        let report = UnattendedReport(
            in: services.locations.reportsFolder, atWork: "Vitrine is saving \(work) in the background.",
            interrupted: "Vitrine was interrupted while it saved \(work). \(advice)")
        // Without a report, the user would never learn the result.
        guard let report else { return ExitCode.someFailed.rawValue }
        guard onBegin() else {
            report.remove()
            return ExitCode.someFailed.rawValue
        }
        let (code, sentence): (Int32, String)
        do {
            (code, sentence) = try await ExportCommand(services: services).run(gallery, to: folder, ids)
        } catch {
            (code, sentence) = (ExitCode.someFailed.rawValue, "\(error)")
        }
        let isDone = code == ExitCode.done.rawValue
        let result = sentence.madeVisible
        report.end(isDone ? result : "\(result.cut(toBytes: Self.longestResult)) \(advice.madeVisible)")
        if let script, isDone { unlink(script) }
        services.log.info(.cache, sentence)
        if let launcher = try? services.launcher { Self.notify(isDone: isDone, launcher) }
        return code
    }

    /// Notifies the desktop, if there is one, that the export has ended. Omits details, which lists of processes would
    /// show.
    private static func notify(isDone: Bool, _ launcher: Launcher) {
        let bus = getenv("DBUS_SESSION_BUS_ADDRESS") != nil
        let runtime = Services.variable("XDG_RUNTIME_DIR")
        guard bus || runtime.map({ access($0 + "/bus", F_OK) == 0 }) == true else { return }
        let text = isDone ? "All photos are saved." : "Some photos are not saved. Start Vitrine to see the reasons."
        // Some desktops have no `notify-send`.
        let program = try? launcher.start(["notify-send", "--app-name=Vitrine", "--icon=vitrine", "Vitrine", text])
        program?.end(after: notifyPatience)
    }

    /// The maximum number of bytes of the result in a report that also has advice.
    private static let longestResult = 1_000
    /// The longest wait for the desktop, in milliseconds.
    private static let notifyPatience: Int32 = 5_000
}
