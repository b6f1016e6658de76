/// What is said along with a command: a number typed before its key, or what stands behind its name on the command line.
public enum CommandArgument: Hashable, Sendable {
    /// How often, how long, or where to.
    case number(Int)
    /// What it is about, in words.
    case text(String)

    /// Numbers end here: no list has as many rows.
    public static let largestNumber = 9_999_999
}
