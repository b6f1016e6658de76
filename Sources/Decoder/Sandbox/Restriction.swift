/// What the kernel itself puts between a confined process and everything else, where it can.
///
/// Each would do alone for most of what a decoder that was taken over might try. They are made of different parts of the
/// kernel, so a mistake in one does not open the other.
public enum Restriction: Hashable, Sendable, CaseIterable {
    /// Nothing that has a name can be opened, executed, made or removed; no TCP connection, and from version 6 on no abstract
    /// socket and no signal to processes outside.
    case landlock
    /// System calls that decoding does not need end the process, or are refused.
    case seccomp
}
