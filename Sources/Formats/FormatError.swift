/// Why a document is not read as a gallery. Nothing of it is used then.
public enum FormatError: Error, Equatable, CustomStringConvertible {
    /// What reads galleries cannot be loaded; the system's reason.
    case missingLibrary(file: String, package: String, reason: String)
    /// There is nothing in it.
    case empty
    /// It is something else, such as “a web page”.
    case notAGallery(String)
    /// It is not well-formed XML; the parser's reason.
    case malformed(line: Int, reason: String)
    /// It declares a document type, which no gallery needs and many attacks begin with.
    case documentType
    /// Elements are nested deeper than any gallery's.
    case tooDeep
    /// A single tag or text is longer than any gallery's.
    case tooLong(line: Int)
    /// A tag has more attributes than any gallery's.
    case tooManyAttributes(line: Int)
    /// It has more different names of elements and attributes than any gallery.
    case tooManyNames
    /// More namespaces are declared at once than in any gallery.
    case tooManyNamespaces(line: Int)
    /// It is written in an encoding that is not read; the encoding's name.
    case encoding(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .missingLibrary(let file, let package, let reason):
            "\(file) cannot be loaded (\(reason)). Install \(package)."
        case .empty: "The gallery file is empty."
        case .notAGallery(let what): "This is \(what), not a gallery."
        case .malformed(let line, let reason): "The gallery file has a mistake in line \(line): \(reason)."
        case .documentType: "The gallery file declares a document type, which is not allowed."
        case .tooDeep: "The gallery file nests its elements too deeply."
        case .tooLong(let line): "The gallery file has a tag in line \(line) that is too long."
        case .tooManyAttributes(let line): "The gallery file has a tag near line \(line) with too many attributes."
        case .tooManyNames: "The gallery file has too many different names of elements and attributes."
        case .tooManyNamespaces(let line): "The gallery file has too many namespaces in line \(line)."
        case .encoding(let name):
            "The gallery file is written in the encoding \(name), which Vitrine does not read. Save it as UTF-8."
        }
    }

    /// Whether the same document may be read later: nothing is wrong with it.
    public var isTransient: Bool {
        if case .missingLibrary = self { true } else { false }
    }
}
