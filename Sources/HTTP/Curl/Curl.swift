import CCurl
import Numbers

/// An easy handle of curl, for one transfer at a time. The creator must free the handle.
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

    /// Continues the transfer after a callback paused it. During the call, curl passes on its buffered data. If that
    /// data contains an error, only the result reports the error.
    func goOn() -> CURLcode {
        ccurl_easy_pause(curl.functions, pointer, CURLPAUSE_CONT)
    }

    // MARK: - Options

    func set(_ option: CURLoption, _ value: Int) {
        ccurl_set_long(curl.functions, pointer, option, value)
    }

    func set(_ option: CURLoption, _ value: String) {
        ccurl_set_string(curl.functions, pointer, option, value)
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        ccurl_set_pointer(curl.functions, pointer, option, value)
    }

    /// Clears an option, even if curl has a default for it.
    func unset(_ option: CURLoption) {
        ccurl_set_string(curl.functions, pointer, option, nil)
    }

    /// Sets an option to a list, which must outlive the handle.
    func set(_ option: CURLoption, _ list: UnsafeMutablePointer<curl_slist>?) {
        ccurl_set_list(curl.functions, pointer, option, list)
    }

    func set(_ option: CURLoption, _ callback: curl_write_callback) {
        ccurl_set_callback(curl.functions, pointer, option, callback)
    }

    func set(_ option: CURLoption, _ count: ByteCount) {
        ccurl_set_offset(curl.functions, pointer, option, curl_off_t(count.int))
    }

    func setSeek(_ callback: curl_seek_callback) {
        ccurl_set_seek(curl.functions, pointer, callback)
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

    func setDebug(_ callback: curl_debug_callback) {
        ccurl_set_debug(curl.functions, pointer, callback)
    }

    // MARK: - Info

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        ccurl_get_long(curl.functions, pointer, info, &value)
        return value
    }

    /// Returns a number of bytes. Returns nil if curl does not know the number, which curl shows by a negative number.
    func count(_ info: CURLINFO) -> ByteCount? {
        let value = offset(info)
        return value >= 0 ? ByteCount(value) : nil
    }

    /// Returns a time in seconds. curl counts microseconds.
    func seconds(_ info: CURLINFO) -> Double { Double(offset(info)) / 1e6 }

    private func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        ccurl_get_offset(curl.functions, pointer, info, &value)
        return value
    }

    /// Returns a string. The result is a copy, because curl may change the original with the next transfer.
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

/// libcurl, loaded at run time.
///
/// Vitrine does not link libcurl: otherwise, commands that show a file or the cache would wait until curl and its
/// libraries are loaded. The library stays loaded, so a second object costs little.
final class Curl: @unchecked Sendable {
    /// The library's file name, which the system's loader looks up.
    static let file = "libcurl.so.4"
    /// The Debian package that contains the library.
    private static let package = "libcurl4"

    /// The library's functions. The functions are written once before this object is shared, then only read.
    let functions: UnsafePointer<ccurl_library>

    /// Loads the library.
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
