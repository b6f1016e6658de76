import CCurl
import Numbers

/// One of curl's easy handles: what it is told, and what it knows of its transfer. Whoever made it frees it.
struct EasyHandle {
    let curl: Curl
    let pointer: UnsafeMutableRawPointer

    init(_ curl: Curl) throws(HTTPError) {
        guard let pointer = ccurl_easy_init(curl.functions) else { throw .other("out of memory") }
        (self.curl, self.pointer) = (curl, pointer)
    }

    func free() {
        ccurl_easy_cleanup(curl.functions, pointer)
    }

    /// Goes on after a callback has asked for a pause. What curl had in hand is handed over in here, and what comes of that is
    /// said here and nowhere else.
    func goOn() -> CURLcode {
        ccurl_easy_pause(curl.functions, pointer, CURLPAUSE_CONT)
    }

    // MARK: - What it is told

    func set(_ option: CURLoption, _ value: Int) {
        ccurl_set_long(curl.functions, pointer, option, value)
    }

    func set(_ option: CURLoption, _ value: String) {
        ccurl_set_string(curl.functions, pointer, option, value)
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        ccurl_set_pointer(curl.functions, pointer, option, value)
    }

    /// Takes back what curl was told, or was built with.
    func unset(_ option: CURLoption) {
        ccurl_set_string(curl.functions, pointer, option, nil)
    }

    /// The list has to outlive the handle.
    func set(_ option: CURLoption, _ list: UnsafeMutablePointer<curl_slist>?) {
        ccurl_set_list(curl.functions, pointer, option, list)
    }

    func set(_ option: CURLoption, _ callback: curl_write_callback) {
        ccurl_set_callback(curl.functions, pointer, option, callback)
    }

    func setProgress(_ callback: curl_xferinfo_callback) {
        ccurl_set_progress(curl.functions, pointer, callback)
    }

    func setOpenSocket(_ callback: curl_opensocket_callback) {
        ccurl_set_open_socket(curl.functions, pointer, callback)
    }

    func setBeforeRequest(_ callback: curl_prereq_callback) {
        ccurl_set_before_request(curl.functions, pointer, callback)
    }

    // MARK: - What it knows

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        ccurl_get_long(curl.functions, pointer, info, &value)
        return value
    }

    /// A number of bytes; nil for one below 0, by which curl says that it does not know.
    func count(_ info: CURLINFO) -> ByteCount? {
        let value = offset(info)
        return value >= 0 ? ByteCount(value) : nil
    }

    /// One of curl's times, which are in microseconds.
    func seconds(_ info: CURLINFO) -> Double { Double(offset(info)) / 1e6 }

    private func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        ccurl_get_offset(curl.functions, pointer, info, &value)
        return value
    }

    /// A text of curl's own, which it may change with the next transfer.
    func text(_ info: CURLINFO) -> String {
        var value: UnsafeMutableRawPointer?
        ccurl_get_pointer(curl.functions, pointer, info, &value)
        return value.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
    }

    var metrics: HTTPMetrics {
        HTTPMetrics(
            bytes: count(CURLINFO_SIZE_DOWNLOAD_T) ?? 0, duration: seconds(CURLINFO_TOTAL_TIME_T))
    }
}

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
