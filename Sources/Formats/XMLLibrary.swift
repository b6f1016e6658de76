import CLibXML2

/// libxml2, once it is loaded. Who has no such object calls none of its functions.
///
/// It is not linked: a program that reads no gallery does not wait for it. It stays loaded, so a second object costs next to
/// nothing.
final class XMLLibrary {
    /// The file that it is looked for in; the system knows where that lies.
    static let file = "libxml2.so.2"
    /// The Debian package that it comes with.
    private static let package = "libxml2"

    let functions: UnsafePointer<cxml_library>

    /// Loads it.
    init(file: String) throws(FormatError) {
        let functions = UnsafeMutablePointer<cxml_library>.allocate(capacity: 1)
        functions.initialize(to: cxml_library())
        if let reason = cxml_load(functions, file) {
            let reason = String(cString: reason)
            functions.deallocate()
            throw .missingLibrary(file: file, package: Self.package, reason: reason)
        }
        self.functions = UnsafePointer(functions)
    }

    deinit {
        functions.deallocate()
    }
}
