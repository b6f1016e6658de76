import CForbidden
import Sandbox
import Glibc

/// Restricts itself like the picture decoder and then makes one forbidden attempt.
///
///     sandbox-probe RESTRICTIONS ATTEMPT FILE
///
/// RESTRICTIONS is `all`, `landlock` or `seccomp` alone, `none`, `server` for the decoder's server, or `served` for a
/// process that the server created. The result, 0 or an error number, is written to descriptor 1, unless the kernel
/// kills the process. The exit status is 3 if a requested restriction is not in force.
@main
enum SandboxProbe {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, forbidden_knows(arguments[2]) == 1 else { exit(2) }
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
        confine(restrictions)
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
}
