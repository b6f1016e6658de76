import CCurl

/// libcurl, once it is loaded. Who has no such object calls none of its functions.
///
/// It is not linked: a program that shows a file from the disk, or the cache, would wait for curl and the libraries that
/// come with it. It stays loaded, so a second object costs next to nothing.
final class Curl: @unchecked Sendable {
    /// The file that it is looked for in; the system knows where that lies.
    static let file = "libcurl.so.4"
    /// The Debian package that it comes with.
    private static let package = "libcurl4"

    /// Written before anybody else knows of it, and only read from then on.
    let functions: UnsafePointer<ccurl_library>

    /// Loads it.
    init(file: String = Curl.file) throws(HTTPError) {
        let functions = UnsafeMutablePointer<ccurl_library>.allocate(capacity: 1)
        functions.initialize(to: ccurl_library())
        if let reason = ccurl_load(functions, file) {
            let reason = String(cString: reason)
            functions.deallocate()
            throw DescriptorProbe.findsNone
                ? .tooFewDescriptors : .missingLibrary(file: file, package: Self.package, reason: reason)
        }
        self.functions = UnsafePointer(functions)
    }

    deinit {
        functions.deallocate()
    }
}
