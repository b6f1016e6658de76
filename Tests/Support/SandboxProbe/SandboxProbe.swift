import CForbidden
import Sandbox
import Glibc

/// Restricts itself like a process of Vitrine and then makes one attempt.
///
///     sandbox-probe RESTRICTIONS ATTEMPT FILE
///
/// RESTRICTIONS is `all`, `landlock` or `seccomp` alone, `none`, `server` for the decoder's server, or `served` for a
/// process that the server created. `fetcher`, `fetcher-landlock` and `fetcher-seccomp` are those of the fetcher.
/// `fetcher-threaded` has a second thread, `fetcher-apart` closes descriptors and cannot reach local services, and
/// `fetcher-code` forbids new code. `screens` are those of the screens. The
/// result, 0 or an error number, is written to descriptor 1, unless the kernel kills the process. The exit status is 3 if a
/// requested restriction is not in force.
@main
enum SandboxProbe {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { exit(2) }
        guard forbidden_knows(arguments[2]) == 1 else { exit(2) }
        // The sandbox keeps three descriptors open, so use 0 and 2 for the sockets.
        guard forbidden_prepare(0, 2) == 0 else { exit(4) }
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

    private static func attempt(_ restrictions: String, _ name: String, _ file: String) -> Never {
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

    private static func confineServer() {
        guard let standing = SandboxRules.applyToServer(), standing.seccomp else { exit(3) }
    }

    private static func confine(_ restrictions: String) {
        let wanted: Set<Restriction>
        switch restrictions {
        case "all": wanted = Set(Restriction.allCases)
        case "landlock": wanted = [.landlock]
        case "seccomp": wanted = [.seccomp]
        case "none", "server": return
        default: exit(2)
        }
        guard let standing = SandboxRules(longestAnswer: 64, restrictions: wanted).apply(),
            standing.seccomp == wanted.contains(.seccomp), (standing.landlock != nil) == wanted.contains(.landlock)
        else { exit(3) }
    }

    private static func confineFetcher(_ restrictions: String, _ folder: String) {
        if restrictions == "fetcher-code" { guard forbidden_load_libraries() == 0 else { exit(6) } }
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
        guard standing.seccomp == wanted.contains(.seccomp),
            // Kernels without Landlock run the other tests too.
            wanted.contains(.landlock) || standing.landlock == nil
        else { exit(3) }
        if restrictions == "fetcher-landlock", standing.landlock == nil { exit(3) }
        if restrictions == "fetcher-code" { guard FetcherRules.forbidNewCode() else { exit(3) } }
    }
}
