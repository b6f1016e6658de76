import Concurrency
import FetcherService
import FetcherWire
import Glibc
import Sandbox

/// The program `vitrine-fetcher`: fetches galleries and pictures for `vitrine`, which starts it.
///
/// The connection is the standard input. The first message names everything that the program may use. The program then
/// enters its restrictions, before it reads anything from the network.
@main
enum VitrineFetcher {
    @MainActor static func main() async {
        // Each thread has its own capabilities and restrictions, so they come before there are other threads.
        _ = ProgramCapabilities.drop()
        guard FetcherRules.closeAllButThree() else { _exit(1) }
        let connection = MessageConnection(adopting: STDIN_FILENO)
        guard let setup = setup(connection) else { _exit(2) }
        // SQLite keeps large indices in this folder while it makes them.
        setenv("SQLITE_TMPDIR", setup.cacheFolder, 1)
        ProgramDescriptors.raiseLimit()
        let restrictions: [String]
        do throws(Refusal) { restrictions = try Self.restrict(setup) } catch { refuse("\(error)", connection) }
        guard !setup.isReportOnly else {
            var news = FetcherNews()
            news.restrictions = restrictions
            try? connection.send(news)
            _exit(0)
        }
        do throws(ThreadShortage) {
            try GlobalTasks.takeOver(count: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        } catch {
            refuse("\(error)", connection)
        }
        ProgramMemory.returnLargePieces()
        setlocale(LC_ALL, "")
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        await MainQueue.leaveMainThread()
        let service: FetcherService
        do { service = try FetcherService(connection, setup, restrictions: restrictions) } catch {
            refuse("\(error)", connection)
        }
        await service.run()
        // Everything is stored. `exit` would destroy globals while other threads still use them. The service's caches
        // would remove the partial files that the next fetcher continues, so they live until here.
        withExtendedLifetime(service) { _exit(0) }
    }

    private static func setup(_ connection: MessageConnection) -> FetcherSetup? {
        do throws(WireError) {
            if let setup = try connection.receive(FetcherSetup.self) { return setup }
            complain("vitrine-fetcher: run “vitrine” instead, which starts this program.")
        } catch {
            // Each message names its version, so `vitrine` learns of the other version from any message.
            if case .version = error { try? connection.send(FetcherNews()) }
            complain("vitrine-fetcher: \(error)")
        }
        return nil
    }

    /// Tells `vitrine` why the program cannot work, and ends.
    private static func refuse(_ sentence: String, _ connection: MessageConnection) -> Never {
        var news = FetcherNews()
        news.refusal = sentence
        try? connection.send(news)
        _exit(1)
    }

    /// Enters the restrictions. Returns their names.
    private static func restrict(_ setup: FetcherSetup) throws(Refusal) -> [String] {
        let certificate = setup.clientCertificate
        let named = [
            setup.ratingsFolder, setup.towns, setup.certificates, setup.netrc, certificate?.file, certificate?.key,
        ]
        // OpenSSL reads these variables, too.
        let variables = ["SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF"].map { (name: String) in
            getenv(name).map { String(cString: $0) }
        }
        let restrictions = FetcherRules(
            writableFolders: [setup.cacheFolder],
            readablePlaces: (named + variables).compactMap { $0 } + setup.readablePlaces,
            usesLocalServices: setup.usesLocalServices
        ).apply()
        guard let restrictions else { throw .failed }
        guard restrictions.areComplete || !setup.requiresAllRestrictions else {
            throw .incomplete(restrictions.missing)
        }
        return restrictions.names
    }

    /// A reason to fetch nothing.
    private enum Refusal: Error, CustomStringConvertible {
        case failed
        case incomplete([String])

        var description: String {
            switch self {
            case .failed: "The restrictions of vitrine-fetcher could not be set."
            case .incomplete(let names):
                "The setting “require-sandbox” is on, and this system has \(names.joined(separator: " and "))."
            }
        }
    }

    private static func complain(_ sentence: String) {
        let line = Array((sentence + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
