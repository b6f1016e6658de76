/// Which walls stand around this process.
///
/// A kernel may lack them: Landlock came with Linux 5.13 and is not switched on everywhere, and containers may forbid to build
/// either. Pictures are decoded all the same, held by the walls that there are and by the limits; the user can ask which.
public struct StandingRestrictions: Equatable, Sendable {
    /// The version of Landlock's interface; nil where that wall is missing.
    public let landlock: Int?
    /// Whether system calls are filtered.
    public let seccomp: Bool

    /// Each wall in a word or two, missing ones too.
    public var names: [String] {
        [landlock.map { "Landlock \($0)" } ?? "no Landlock", seccomp ? "seccomp" : "no seccomp"]
    }
}
