import Cache
import Concurrency
import Glibc
import Logging
import Model
import Pictures
import Publishing
import Settings
import Terminal

/// The program: reads the command line and does what it says.
@main
enum Vitrine {
    static func main() async {
        GlobalTasks.takeOver(count: Services.cores)
        ProgramMemory.returnLargePieces()
        ProgramDescriptors.raiseLimit()
        // Dates, letters and their order are the user's.
        setlocale(LC_ALL, "")
        // Whatever Vitrine writes is the user's alone, but for what goes into a folder of the user's: that is as the user's own
        // mask has it.
        let mask = CreationMask(umask(0o077))
        // A pipe that nobody reads is an error of the write, and handled there.
        signal(SIGPIPE, SIG_IGN)
        let code = await run(mask)
        // Nothing is left to be done or written, and other threads still run: `exit` would take things down under them.
        _exit(code)
    }

    private static func run(_ mask: CreationMask) async -> Int32 {
        do {
            let invocation = try Invocation(CommandLine.arguments.dropFirst())
            switch invocation.command {
            case .help:
                Output.write(Array(HelpText.text.utf8))
                return ExitCode.done.rawValue
            case .man:
                Output.write(Array(ManPage.text(version: Version.number).utf8))
                return ExitCode.done.rawValue
            case .completions(let shell):
                Output.write(Array(Completions.text(for: shell).utf8))
                return ExitCode.done.rawValue
            case .version(let isVerbose):
                Output.print("vitrine \(Version.number)")
                if isVerbose {
                    try printFindings(invocation, mask)
                    DecoderDescription(DecoderClient(path: Installation().decoder)).print()
                }
                return ExitCode.done.rawValue
            case .config(let action): return try ConfigCommand(invocation: invocation).run(action).rawValue
            default:
                try ProgramDescriptors.require(invocation.command.descriptors)
                if invocation.command.fetches { GlobalTasks.prepareTimers() }
                let services = try Services(invocation, mask)
                defer {
                    services.storage.end()
                    services.logFile?.flush()
                }
                try services.clear(invocation)
                return try await run(invocation.command, in: services)
            }
        } catch {
            Output.complain(sentence(error))
            return code(of: error).rawValue
        }
    }

    private static func run(_ command: Invocation.Command, in services: Services) async throws -> Int32 {
        switch command {
        case .browse(let gallery): try await BrowseCommand(services: services).run(gallery)
        case .sync(let scope, let galleries): try await SyncCommand(services: services).run(scope, galleries).rawValue
        case .list(let json, let gallery): try ListCommand(services: services).run(gallery, json: json).rawValue
        case .show(let size, let files): await ShowCommand(services: services).run(files, size: size).rawValue
        case .info(let json, let targets): try InfoCommand(services: services).run(targets, json: json).rawValue
        case .publish(let folder): try await PublishCommand(services: services).run(folder)
        case .export(let gallery, let folder, let ids):
            try await ExportCommand(services: services).run(gallery, to: folder, ids)
        case .cache(let action, let target): try await CacheCommand(services: services).run(action, target).rawValue
        case .help, .man, .completions, .version, .config: ExitCode.done.rawValue
        }
    }

    /// What was found out about where it runs, a line each.
    private static func printFindings(_ invocation: Invocation, _ mask: CreationMask) throws {
        let wishes = try Services(invocation, mask).settings.terminalWishes
        let terminal = OutputTerminal(TerminalEnvironment(), wishes, isThorough: true)
        defer { terminal.end() }
        for line in terminal.findings.lines { Output.print(line) }
    }

    private static func sentence(_ error: any Error) -> String { "\(error)" }

    private static func code(of error: any Error) -> ExitCode {
        switch error {
        case is SettingsError, is AddressError, is LogError: .usage
        case is TerminalError: .notATerminal
        case CacheError.locked, CacheError.damagedInUse, PublishingError.locked: .locked
        default: .someFailed
        }
    }
}

extension Invocation.Command {
    /// How many file descriptors the command needs at least. With fewer it ends at once and says so.
    var descriptors: Int {
        switch self {
        case .browse: Self.most
        case .sync, .export: 40
        case .publish, .show, .info: 20
        case .list, .cache: 12
        case .man, .completions, .config, .help, .version: 0
        }
    }

    /// Whether it may fetch something.
    var fetches: Bool {
        switch self {
        case .browse, .sync, .export: true
        default: false
        }
    }

    /// The number that the most demanding command needs.
    private static let most = 52

    /// How many descriptors there are beyond that, for more transfers and more pictures at once.
    static var descriptorsToSpare: Int { max(0, ProgramDescriptors.limit - most) }
}

/// What the program tells whoever started it. A contract: scripts rely on it.
enum ExitCode: Int32 {
    case done = 0
    case someFailed = 1
    case usage = 2
    case notATerminal = 3
    case locked = 4
}

/// Which version this is.
enum Version {
    static let number = "0.1"
}

/// What `vitrine --version --verbose` says of the picture decoder: the libraries it reads pictures with, and the walls that
/// stand around it on this machine.
struct DecoderDescription {
    private let lines: [String]

    /// Asks a decoder.
    init(_ decoder: DecoderClient) {
        do {
            let report = try decoder.report()
            lines = [
                "pictures: " + report.libraries.joined(separator: ", "),
                "the picture decoder is confined by: " + report.restrictions.joined(separator: ", "),
            ]
        } catch {
            lines = ["\(error)"]
        }
    }

    /// Prints it, a line each.
    func print() {
        for line in lines { Output.print(line) }
    }
}
