/// One of the things that Vitrine does, as the command line calls it.
public struct Subcommand: Sendable {
    /// A way to write it, and what is done then.
    public struct Form: Sendable {
        /// What stands behind the name.
        public let usage: String
        /// What it does.
        public let meaning: String
    }

    /// What stands behind its name, for those who complete it.
    public enum Argument: Equatable, Sendable {
        /// One of these.
        case words([String])
        /// A gallery: often a file, or a folder.
        case gallery
        /// A file.
        case file
        /// A folder.
        case folder
        /// What only the user knows.
        case anything
    }

    /// Its name; empty for what is done without one.
    public let name: String
    /// How it is written, in one way or in several.
    public let forms: [Form]
    /// What stands behind it, word by word. The last of them may stand there again and again.
    public let arguments: [Argument]

    init(_ name: String, _ arguments: [Argument], _ forms: (usage: String, meaning: String)...) {
        self.name = name
        self.arguments = arguments
        self.forms = forms.map { Form(usage: $0.usage, meaning: $0.meaning) }
    }

    /// Options that mean something to it, and not to all.
    public var options: [InvocationOption] {
        InvocationTable.options.filter { $0.owner != .everything && $0.belongs(to: name) }
    }
}
