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

/// An export that continues in a process of its own after the browser has ended.
///
///     if try await UnattendedExport(rest, credentials).start(services) { … }     // in the browser
///     try await UnattendedExport.run(in: services)                               // `vitrine export --unattended`
///
/// The browser starts `vitrine export --unattended` and sends it the arguments over its standard input. Addresses and
/// passwords therefore appear in no list of processes. The new process reports the result on the desktop and at the next start of
/// Vitrine.
struct UnattendedExport: WireValue {
    private let gallery: Address
    private let folder: String
    private let ids: [String]
    private let credentials: [SignInPlace: EnteredCredentials.Entry]

    /// The option for the command line of the new process.
    private static let arguments = ["export", "--unattended"]

    /// - Parameter credentials: those that the browser knows.
    init(_ rest: ExportRest, _ credentials: CredentialStore) {
        (gallery, folder, ids) = (rest.gallery, rest.folder, rest.ids)
        self.credentials = credentials.credentials(for: rest.gallery).entries
    }

    init(from reader: inout WireReader) throws(WireError) {
        (gallery, folder) = (try reader.value(), try reader.value())
        (ids, credentials) = (try reader.value(), try reader.value())
    }

    func write(to writer: inout WireWriter) {
        writer.append(gallery, folder, ids, credentials)
    }

    // MARK: - In the browser

    /// Starts the process. Returns when the process has the export, or throws an error.
    func start(_ services: Services) async throws {
        let (connection, other) = try MessageConnection.pair()
        do {
            defer { close(other) }
            let words = [services.installation.program] + services.invocation.settingArguments + Self.arguments
            _ = try services.launcher.start(words, input: other)
        }
        // Quitting waits for nothing long.
        let impatience = Task {
            try await BootClock().sleep(until: BootClock().now + Self.patience)
            connection.end()
        }
        defer { impatience.cancel() }
        let hasBegun = Atomic(false)
        guard await MessageSender(connection).send(self) else { throw NoAnswer() }
        await MessageReceiver(connection).run { (answer: Bool) in
            hasBegun.store(answer, ordering: .relaxed)
        } onFailure: { [log = services.log] in
            log.error(.cache, "\($0)")
        }
        guard hasBegun.load(ordering: .relaxed) else { throw NoAnswer() }
    }

    private static let patience = Duration.seconds(5)

    private struct NoAnswer: Error, CustomStringConvertible {
        let description = "The process that should continue the export did not start."
    }

    // MARK: - In the new process

    /// Receives an export, and does it.
    static func run(in services: Services) async throws -> Int32 {
        let connection = MessageConnection(adopting: STDIN_FILENO)
        guard let export = try? connection.receive(UnattendedExport.self) else {
            throw SettingsError.missingArgument("gallery")
        }
        return await export.run(in: services) {
            try? connection.send(true)
            connection.end()
        }
    }

    /// - Parameter onBegin: called when the next start of Vitrine would show the export.
    private func run(in services: Services, onBegin: () -> Void) async -> Int32 {
        for (place, entry) in credentials { services.credentials.take(entry.signIn, for: place, by: entry.galleries) }
        let work = "photos of \(gallery) to \(folder.madeVisible)"
        let report = UnattendedReport(
            in: services.locations.reportsFolder, atWork: "Vitrine is saving \(work) in the background.",
            interrupted: "Vitrine was interrupted while it saved \(work). Save them again to continue.")
        onBegin()
        let (code, sentence): (Int32, String)
        do {
            (code, sentence) = try await ExportCommand(services: services).run(gallery, to: folder, ids)
        } catch {
            (code, sentence) = (ExitCode.someFailed.rawValue, "\(error)")
        }
        report?.end(sentence)
        services.log.info(.cache, sentence)
        if let launcher = try? services.launcher { Self.notify(sentence, launcher) }
        return code
    }

    /// Shows a sentence on the desktop, if there is one.
    private static func notify(_ sentence: String, _ launcher: Launcher) {
        let bus = getenv("DBUS_SESSION_BUS_ADDRESS") != nil
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
        guard bus || runtime.map({ access($0 + "/bus", F_OK) == 0 }) == true else { return }
        // Desktops take the text for a kind of HTML.
        let text = sentence.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        let words = ["notify-send", "--app-name=Vitrine", "--icon=vitrine", "--", "Vitrine", text]
        // Some desktops have no such program.
        guard let program = try? launcher.start(words) else { return }
        program.end(after: notifyPatience)
    }

    /// The longest wait for the desktop, in milliseconds.
    private static let notifyPatience: Int32 = 5_000
}
