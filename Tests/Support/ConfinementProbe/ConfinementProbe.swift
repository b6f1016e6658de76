import CForbidden
import Sandbox
import Glibc

/// Confines itself as the picture decoder does, and then tries one thing that a decoder may not.
///
///     confinement-probe WALLS ATTEMPT FILE
///
/// WALLS is `all`, `landlock` or `seccomp` for that one alone, or `none` for a process that is not confined at all; `server`
/// for the walls of the decoder's server, and `served` for a process that was made behind those. What came
/// of the attempt, 0 or the error, is written to descriptor 1 as a number; nothing is, if the kernel ended the process. Its
/// exit status is 3 where a wall that was asked for does not stand.
@main
enum ConfinementProbe {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, forbidden_knows(arguments[2]) == 1 else { exit(2) }
        // The descriptors that confinement leaves open are three, so 0 and 2 are what there is to reach others by.
        guard forbidden_prepare(0, 2) == 0 else { exit(4) }
        switch arguments[1] {
        case "server": confineServer()
        case "served":
            confineServer()
            do throws(ForkedProcess.Failure) {
                let status = try ForkedProcess { attempt("all", arguments[2], arguments[3]) }.reap()
                // As a shell says it.
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
        // One descriptor is free then, and it is not for want of one that a file cannot be opened. An execution that succeeds
        // says so by itself: whatever is executed ends with 0 and writes nothing.
        if !isOfSockets { close(0) }
        let outcome = Array("\(forbidden_attempt(name, file))".utf8)
        exit(write(1, outcome, outcome.count) == outcome.count ? 0 : 5)
    }

    private static func confineServer() {
        guard let standing = Confinement.applyToServer(), standing.seccomp else { exit(3) }
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
        guard let standing = Confinement(longestAnswer: 64, restrictions: wanted).apply(),
            standing.seccomp == wanted.contains(.seccomp), (standing.landlock != nil) == wanted.contains(.landlock)
        else { exit(3) }
    }
}
