import Cache
import Concurrency
import FetcherClient
import Glibc
import Logging
import Model
import Pictures
import Publishing
import Sandbox
import Settings
import Terminal

/// The program: parses the command line and runs the command.
@main
enum Vitrine {
    @MainActor static func main() async {
        // Each thread has its own capabilities, so drop them before other threads exist.
        let capabilities = ProgramCapabilities.drop()
        let invocation = Result { try Invocation(arguments()) }
        let processes = StartedProcesses(for: (try? invocation.get())?.command)
        let output = Output(endsProgram: (try? invocation.get())?.command.onlyPrints == true)
        ProgramDescriptors.raiseLimit()
        // The check holds all descriptors for a moment, so it comes before Dispatch needs one.
        let check = Result {
            if let command = try? invocation.get().command { try ProgramDescriptors.require(command.descriptors) }
        }
        do throws(ThreadShortage) { try GlobalTasks.takeOver(count: Services.cores) } catch {
            Output.complain("\(error)")
            _exit(ExitCode.someFailed.rawValue)
        }
        ProgramMemory.returnLargePieces()
        // Use the user's locale for dates and sorting.
        setlocale(LC_ALL, "")
        // Vitrine's files are private. Only files in the user's folders follow the user's umask.
        let mask = CreationMask(umask(0o077))
        // Ignore the signal, because `Output` handles closed pipes.
        signal(SIGPIPE, SIG_IGN)
        await MainQueue.leaveMainThread()
        let code = await run(invocation, check, mask, capabilities, processes, output)
        // Everything is written. `exit` would destroy globals while other threads still use them.
        _exit(output.exitCode(code))
    }

    /// Returns the arguments after the program's name. Throws an error if one of them is not UTF-8.
    ///
    /// `CommandLine.arguments` replaces invalid bytes, so a path would name another file or folder.
    private static func arguments() throws(SettingsError) -> [String] {
        var arguments: [String] = []
        for word in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst() {
            guard let word else { break }
            guard let argument = String(validatingCString: word) else {
                throw .argumentNotUTF8(String(cString: word))
            }
            arguments.append(argument)
        }
        return arguments
    }

    private static func run(
        _ invocation: Result<Invocation, any Error>, _ check: Result<Void, any Error>, _ mask: CreationMask,
        _ capabilities: ProgramCapabilities, _ processes: StartedProcesses, _ output: Output
    ) async -> Int32 {
        do {
            let invocation = try invocation.get()
            switch invocation.command {
            case .help:
                output.write(Array(HelpText.text.utf8))
                return ExitCode.done.rawValue
            case .man:
                output.write(Array(ManPage.text(version: Version.number).utf8))
                return ExitCode.done.rawValue
            case .completions(let shell):
                output.write(Array(Completions.text(for: shell).utf8))
                return ExitCode.done.rawValue
            case .version(let isVerbose):
                output.print("vitrine \(Version.number)")
                if isVerbose {
                    try printFindings(invocation, mask, output)
                    let installation = Installation()
                    for line in description(of: DecoderClient(path: installation.decoder)) { output.print(line) }
                    output.print(description(ofFetcher: installation.fetcher, processes.launcher))
                    if let notice = capabilities.notice { output.print(notice) }
                }
                return ExitCode.done.rawValue
            case .config(let action):
                return try ConfigCommand(invocation: invocation, output: output).run(action).rawValue
            default:
                try check.get()
                let services = try Services(invocation, mask, processes, output)
                if let notice = capabilities.notice { services.log.info(.screen, notice) }
                if let restrictions = processes.restrictions {
                    services.log.info(
                        .screen, "vitrine runs with the restrictions \(restrictions.names.joined(separator: ", "))")
                    services.activity.setRestrictions(restrictions.names, of: "vitrine")
                }
                defer {
                    services.storage.end()
                    services.log.flush()
                }
                let clearing = try services.clear(invocation)
                guard clearing == .done else { return clearing.rawValue }
                return try await run(invocation.command, in: services)
            }
        } catch {
            Output.complain("\(error)")
            return ExitCode(error).rawValue
        }
    }

    private static func run(_ command: Invocation.Command, in services: Services) async throws -> Int32 {
        switch command {
        case .browse(let gallery): try await BrowseCommand(services: services).run(gallery)
        case .sync(let scope, let galleries, let albums):
            try await SyncCommand(services: services, fetchesAlbums: albums).run(scope, galleries).rawValue
        case .list(let json, albums: false, let search, let gallery):
            try await ListCommand(services: services).run(gallery, json: json, matching: search).rawValue
        case .list(let json, albums: true, _, let gallery):
            try AlbumsCommand(services: services).run(gallery, json: json).rawValue
        case .show(let size, let files): await ShowCommand(services: services).run(files, size: size).rawValue
        case .info(let json, let targets):
            await InfoCommand(services: services).run(targets, json: json).rawValue
        case .publish(let folder, let bucket): try await PublishCommand(services: services).run(folder, to: bucket)
        case .export(let gallery, let folder, let ids, let search):
            try await ExportCommand(services: services).run(gallery, to: folder, ids, matching: search)
        case .exportUnattended: try await UnattendedExport.run(in: services)
        case .cache(let action, let target): try await CacheCommand(services: services).run(action, target).rawValue
        case .help, .man, .completions, .version, .config: ExitCode.done.rawValue
        }
    }

    /// Prints the findings about the terminal and their reasons.
    private static func printFindings(_ invocation: Invocation, _ mask: CreationMask, _ output: Output) throws {
        let wishes = try Services(invocation, mask, StartedProcesses(for: nil), output).settings.terminalWishes
        let terminal = OutputTerminal(TerminalEnvironment(), wishes, isThorough: true)
        defer { terminal.end() }
        for line in terminal.findings.lines { output.print(line) }
    }

    /// Returns a line with the decoder's libraries and a line with its restrictions, or the reason of a failure.
    private static func description(of decoder: DecoderClient) -> [String] {
        do {
            let report = try decoder.report()
            return [
                "pictures: " + report.libraries.joined(separator: ", "),
                "decoder sandbox: " + report.restrictions.joined(separator: ", "),
            ]
        } catch {
            return ["\(error)"]
        }
    }

    /// Returns a line with the restrictions of a fetcher, or the reason of a failure.
    private static func description(ofFetcher path: String, _ launcher: Launcher?) -> String {
        do {
            guard let launcher else { throw Launcher.Failure(code: EAGAIN) }
            let restrictions = try FetcherClient.restrictions(path: path, launcher: launcher)
            return "fetcher sandbox: " + restrictions.joined(separator: ", ")
        } catch {
            return "\(error)"
        }
    }
}

/// The process that starts other programs, and the restrictions of this process.
///
/// The program must create this value before it has more than one thread.
struct StartedProcesses: Sendable {
    /// Starts programs without the restrictions of this process; nil for commands that start none.
    let launcher: Launcher?
    /// The restrictions of a process with screens; nil for other commands.
    let restrictions: StandingRestrictions?

    init(for command: Invocation.Command?) {
        let startsPrograms = if case .version(isVerbose: true) = command { true } else { command?.fetches == true }
        launcher = startsPrograms ? try? Launcher() : nil
        guard case .browse = command, launcher != nil else {
            restrictions = nil
            return
        }
        restrictions = ScreensRules().apply()
    }
}

extension Invocation.Command {
    /// The number of file descriptors that the command needs at least.
    var descriptors: Int {
        switch self {
        case .browse: Self.most
        case .sync, .export, .exportUnattended, .publish(_, to: _?): 40
        case .publish, .show, .info: 20
        case .list, .cache: 12
        case .man, .completions, .config, .help, .version: 0
        }
    }

    /// Whether the command may use the network.
    var fetches: Bool {
        switch self {
        case .browse, .sync, .export, .exportUnattended, .publish(_, to: _?): true
        default: false
        }
    }

    /// Whether the command has no other effect than its results.
    var onlyPrints: Bool {
        switch self {
        case .list, .show, .info, .cache(.info, _), .man, .completions, .config, .help, .version: true
        case .browse, .sync, .publish, .export, .exportUnattended, .cache: false
        }
    }

    /// The number of file descriptors that the most demanding command needs.
    private static let most = 52

    /// The file descriptors that no command needs, for more simultaneous transfers and pictures.
    static var descriptorsToSpare: Int { max(0, ProgramDescriptors.limit - most) }
}

/// The exit codes of the program. Scripts rely on these codes.
enum ExitCode: Int32 {
    case done = 0
    case someFailed = 1
    case usage = 2
    case notATerminal = 3
    case locked = 4
}

extension ExitCode {
    /// The exit code of a command that ends with an error.
    init(_ error: any Error) {
        self =
            switch error {
            case is SettingsError, is AddressError, is LogError, is PublishCommand.NoBucket,
                is UnattendedExport.NotForUsers:
                .usage
            case is TerminalError: .notATerminal
            case CacheError.locked, CacheError.damagedInUse, PublishingError.locked: .locked
            default: .someFailed
            }
    }

    /// Adds the result of another part of the work. The higher code counts.
    mutating func add(_ code: ExitCode) {
        if code.rawValue > rawValue { self = code }
    }
}

/// The version of Vitrine.
enum Version {
    static let number = "0.1"
}
