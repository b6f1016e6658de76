import CForbidden
import Sandbox
import Glibc

/// Restricts itself like a process of Vitrine and then makes one attempt.
///
///     sandbox-probe RESTRICTIONS ATTEMPT FILE
///
/// RESTRICTIONS is `all`, `landlock` or `seccomp` alone, `none`, `server` for the decoder's server, or `served` for a
/// process that the server created. `fetcher`, `fetcher-landlock` and `fetcher-seccomp` are those of the fetcher.
/// `fetcher-threaded` has a second thread, and `fetcher-apart` closes descriptors and cannot reach local services.
/// `screens` are those of the screens, and `launcher` tries a launcher beside them. The result, 0 or an error number,
/// is written to descriptor 1, unless the kernel kills the process. The exit status is 3 unless exactly the requested
/// restrictions of this kernel are in force.
@main
struct SandboxProbe {
    /// The version of the kernel's Landlock, asked before a restriction forbids the question; nil if there is none.
    private let landlock: Int?

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { exit(2) }
        if arguments[1] == "launcher" { LauncherTrial.run(arguments[2], in: arguments[3]) }
        guard forbidden_knows(arguments[2]) == 1 else { exit(2) }
        // The sandbox keeps three descriptors open, so use 0 and 2 for the sockets.
        guard forbidden_prepare(0, 2) == 0 else { exit(4) }
        let version = forbidden_landlock_version()
        SandboxProbe(landlock: version > 0 ? Int(version) : nil).run(arguments)
    }

    private func run(_ arguments: [String]) -> Never {
        switch arguments[1] {
        case "server": confineServer()
        case "served":
            confineServer()
            do throws(ForkedProcess.Failure) {
                let status = try ForkedProcess { attempt("all", arguments[2], arguments[3]) }.reap()
                // In the shell's form.
                exit(status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F)
            } catch {
                exit(6)
            }
        default: break
        }
        attempt(arguments[1], arguments[2], arguments[3])
    }

    private func attempt(_ restrictions: String, _ name: String, _ file: String) -> Never {
        if restrictions.hasPrefix("fetcher") {
            confineFetcher(restrictions, file)
        } else if restrictions == "screens" {
            guard ScreensRules().apply().names == ["seccomp"] else { exit(3) }
        } else {
            confine(restrictions)
        }
        let isOfSockets = name.hasPrefix("connect")
        // Free a descriptor, so that opening a file cannot fail for lack of one. A successful execution reports itself:
        // the executed program ends with 0 and writes nothing.
        if !isOfSockets { close(0) }
        let outcome = Array("\(forbidden_attempt(name, file))".utf8)
        exit(write(1, outcome, outcome.count) == outcome.count ? 0 : 5)
    }

    private func confineServer() {
        guard let standing = SandboxRules.applyToServer(), standing.seccomp, standing.landlock == landlock else {
            exit(3)
        }
    }

    private func confine(_ restrictions: String) {
        let wanted: Set<Restriction>
        switch restrictions {
        case "all": wanted = Set(Restriction.allCases)
        case "landlock": wanted = [.landlock]
        case "seccomp": wanted = [.seccomp]
        case "none", "server": return
        default: exit(2)
        }
        guard let standing = SandboxRules(longestAnswer: 64, restrictions: wanted).apply(),
            standing.seccomp == wanted.contains(.seccomp),
            standing.landlock == (wanted.contains(.landlock) ? landlock : nil)
        else { exit(3) }
    }

    private func confineFetcher(_ restrictions: String, _ folder: String) {
        if restrictions == "fetcher-threaded" { guard forbidden_begin_thread() == 0 else { exit(6) } }
        let wanted: Set<Restriction> =
            switch restrictions {
            case "fetcher-landlock": [.landlock]
            case "fetcher-seccomp": [.seccomp]
            default: Set(Restriction.allCases)
            }
        let rules = FetcherRules(
            writableFolders: [folder + "/cache"], readablePlaces: [folder + "/photos", folder + "/missing"],
            usesLocalServices: restrictions != "fetcher-apart", restrictions: wanted)
        // The other attempts need the sockets that are open.
        if restrictions == "fetcher-apart" {
            guard fcntl(3, F_GETFD) >= 0, FetcherRules.closeAllButThree(), fcntl(3, F_GETFD) < 0 else { exit(8) }
        }
        guard let standing = rules.apply() else { exit(7) }
        // The fetcher does not use version 1.
        let usable = landlock.flatMap { $0 >= 2 ? $0 : nil }
        guard standing.seccomp == wanted.contains(.seccomp),
            standing.landlock == (wanted.contains(.landlock) ? usable : nil)
        else { exit(3) }
    }
}

/// Starts programs through a launcher, beside the restrictions of the screens. The result is written to descriptor 1.
private enum LauncherTrial {
    static func run(_ name: String, in folder: String) -> Never {
        do {
            if name == "death" { try die() }
            if name == "release" {
                try startAtGate(folder)
                write("gate", "on\n", folder)
                say(read("after", folder))
                exit(0)
            }
            let launcher = try Launcher()
            guard ScreensRules().apply().seccomp else { exit(3) }
            switch name {
            case "end of program":
                say("\(try launcher.start(["/bin/sh", "-c", "exit 7"]).wait().map { $0 >> 8 } ?? -1)")
            case "missing program":
                do throws(Launcher.Failure) {
                    _ = try launcher.start(["/vitrine/missing"])
                } catch {
                    say("\(error.code)")
                }
            case "words":
                let script = "printf '%s|' \"$@\" > \"$0/words\""
                say("\(try launcher.start(["/bin/sh", "-c", script, folder, "a b", "", "$HOME"]).wait() ?? -1)")
            case "null character":
                do throws(Launcher.Failure) {
                    _ = try launcher.start(["/bin/true", "a\0b"])
                } catch {
                    say("\(error.code)")
                }
            case "state":
                // The program is free, this process is not.
                let script = "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status > \(folder)/state"
                say("\(try launcher.start(["/bin/sh", "-c", script]).wait() ?? -1) \(refusal())")
            case "input":
                var ends: [Int32] = [-1, -1]
                guard pipe(&ends) == 0, Glibc.write(ends[1], "text", 4) == 4 else { exit(5) }
                let program = try launcher.start(["/bin/sh", "-c", "exec cat > \(folder)/input"], input: ends[0])
                // The program waits for the end of its input, so it cannot have ended yet.
                let isThere = kill(program.number, 0) == 0
                for end in ends { close(end) }
                say("\(program.wait() ?? -1) \(isThere)")
            case "files":
                say("\(try launcher.start(["/bin/sh", "-c", "exec ls /proc/self/fd > \(folder)/files"]).wait() ?? -1)")
            default: exit(2)
            }
            exit(0)
        } catch {
            exit(6)
        }
    }

    /// Kills a process that has a launcher, and waits for the launcher, whose parent this process becomes.
    private static func die() throws -> Never {
        guard forbidden_adopt_orphans() == 0 else { exit(6) }
        // Ends this process if the launcher stays.
        alarm(60)
        let process = try ForkedProcess {
            guard let launcher = try? Launcher() else { exit(6) }
            withExtendedLifetime(launcher) { _ = kill(getpid(), SIGKILL) }
            exit(6)
        }
        var status = process.reap()
        guard status == SIGKILL, waitpid(-1, &status, 0) > 0 else { exit(6) }
        say("\(status)")
        exit(0)
    }

    private static func refusal() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0 ? errno : 0 }

    /// Starts a program that waits at its gate. The launcher has ended when this method returns.
    private static func startAtGate(_ folder: String) throws {
        guard mkfifo(folder + "/gate", 0o600) == 0, mkfifo(folder + "/after", 0o600) == 0 else { exit(5) }
        let script = "cd \(folder); read line < gate; echo \"$line\" > after"
        _ = try Launcher().start(["/bin/sh", "-c", script])
    }

    private static func write(_ name: String, _ text: String, _ folder: String) {
        let file = open("\(folder)/\(name)", O_WRONLY)
        let bytes = Array(text.utf8)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { exit(5) }
        close(file)
    }

    private static func read(_ name: String, _ folder: String) -> String {
        let file = open("\(folder)/\(name)", O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func say(_ text: String) {
        let bytes = Array(text.utf8)
        guard Glibc.write(1, bytes, bytes.count) == bytes.count else { exit(5) }
    }
}
