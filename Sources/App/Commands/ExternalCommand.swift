import Glibc

/// A command of the user's for what is opened elsewhere: a program, its arguments, and among them the place for what is to
/// be opened.
///
///     ExternalCommand("feh --fullscreen")?.words(for: ["/tmp/Lake.jpg"])     // feh --fullscreen /tmp/Lake.jpg
///     ExternalCommand("lynx -dump %s")?.words(for: ["http://example.org/"])  // lynx -dump http://example.org/
///
/// It is taken apart at its white space and never seen by a shell: what it opens has names that come from strangers.
struct ExternalCommand: Equatable {
    private let parts: [String]

    /// Nil where nothing is named.
    init?(_ text: String) {
        // A program whose path has a space in it is one all the same.
        parts = access(text, X_OK) == 0 ? [text] : text.split(whereSeparator: \.isWhitespace).map(String.init)
        if parts.isEmpty { return nil }
    }

    /// The first command that `$BROWSER` names: "a colon-separated list of browser command parts", of which each may say with
    /// `%s` where the address goes.
    init?(browsers text: String) {
        guard let first = text.split(separator: ":").first else { return nil }
        self.init(String(first))
    }

    /// What the program is called.
    var program: String { parts[0] }

    /// The whole command, for targets that are addresses or absolute paths: so none of them can be taken for an option.
    func words(for targets: [String]) -> [String] {
        guard parts.contains(where: { $0.contains("%s") }) else { return parts + targets }
        return parts.flatMap { part -> [String] in
            if part == "%s" { return targets }
            guard part.contains("%s"), let target = targets.first else { return [part] }
            return [part.replacing("%s", with: target)]
        }
    }
}
