import CCurl
import Glibc

/// One transfer on the network's thread: its easy handle, and what has come so far. Touched on that thread only.
final class EasyTransfer {
    let number: Int
    let mailbox: TransferMailbox
    let easy: UnsafeMutableRawPointer
    /// Keeps the file that a body goes into open. It is let go with the whole object, after the handle was removed.
    private let request: HTTPRequest
    /// curl keeps the list's address and not a copy.
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var head = ResponseHead()
    private var clock: TransferClock
    private var isHeadPosted = false
    /// Bytes of body that were taken, or thrown away with an answer that is not wanted.
    private var received: Int64 = 0
    /// Why a callback stopped the transfer; curl itself only knows that one did.
    private var stop: Stop?

    private enum Stop {
        case error(HTTPError)
        /// The answer stands, but its body is too long to be read for nothing.
        case unwanted
    }

    /// The most of an unwanted body that is read for the sake of the connection, which can then be used again.
    private static let unwantedLimit: Int64 = 1 << 16

    init?(_ number: Int, _ request: HTTPRequest, _ configuration: HTTPConfiguration, _ mailbox: TransferMailbox) {
        guard let easy = curl_easy_init() else { return nil }
        self.number = number
        self.request = request
        self.mailbox = mailbox
        self.easy = easy
        clock = TransferClock(request.meter)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        for header in request.headers { headerList = curl_slist_append(headerList, "\(header.name): \(header.value)") }
        EasyOptions.apply(request, configuration, to: easy)
        vitrine_curl_set_list(easy, CURLOPT_HTTPHEADER, headerList)
        vitrine_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        vitrine_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        vitrine_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
        vitrine_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
        if request.meter != nil { applyMeter(context) }
        vitrine_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            return Unmanaged<EasyTransfer>.fromOpaque(context).takeUnretainedValue()
                .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        vitrine_curl_set_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            return Unmanaged<EasyTransfer>.fromOpaque(context).takeUnretainedValue()
                .takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    /// What is asked of curl for the sake of a meter.
    private func applyMeter(_ context: UnsafeMutableRawPointer) {
        vitrine_curl_set_pointer(easy, CURLOPT_PREREQDATA, context)
        vitrine_curl_set_before_request(easy) { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let transfer = Unmanaged<EasyTransfer>.fromOpaque(context).takeUnretainedValue()
            transfer.clock.noteRequest(transfer.easy)
            return CURL_PREREQFUNC_OK
        }
        vitrine_curl_set_long(easy, CURLOPT_NOPROGRESS, 0)
        vitrine_curl_set_pointer(easy, CURLOPT_XFERINFODATA, context)
        vitrine_curl_set_progress(easy) { context, _, received, _, _ in
            guard let context else { return 1 }
            Unmanaged<EasyTransfer>.fromOpaque(context).takeUnretainedValue().noteProgress(received)
            return 0
        }
    }

    private func noteProgress(_ received: curl_off_t) {
        request.meter?.note(bytes: Int64(received))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// The transfer that a handle belongs to.
    static func owning(_ easy: UnsafeMutableRawPointer) -> EasyTransfer? {
        var context: UnsafeMutableRawPointer?
        vitrine_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<EasyTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    func setWeight(_ weight: Int) {
        EasyOptions.setWeight(weight, of: easy)
    }

    /// Tells everyone how it ended.
    func end(_ result: Result<HTTPMetrics, any Error>) {
        if case .success(let metrics) = result { request.meter?.note(bytes: metrics.bytes) }
        mailbox.post(end: result)
        request.meter?.noteEnd(result)
    }

    /// Goes on after the mailbox was full.
    func resume() {
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    var status: Int { easy.long(CURLINFO_RESPONSE_CODE) }

    /// How the transfer ended, once curl has said so.
    func result(of code: CURLcode) -> Result<HTTPMetrics, any Error> {
        switch stop {
        case .error(let error): return .failure(error)
        case nil where code != CURLE_OK:
            return .failure(
                HTTPError(
                    code, host: host, detail: String(cString: errorText), systemError: easy.long(CURLINFO_OS_ERRNO)))
        case .unwanted, nil:
            postHead()
            return .success(easy.metrics)
        }
    }

    // MARK: - Callbacks

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        clock.noteAnswer(easy)
        guard head.take(bytes) else { return abort(.error(.malformed("its headers are too long"))) }
        let isSecure = easy.string(CURLINFO_SCHEME).lowercased() == "https"
        // curl follows from https to http; what was asked for in secret would be asked for again in the open.
        if isSecure, head.isRedirect(to: "http:") { return abort(.error(.forbiddenRedirect)) }
        // Compression only makes it smaller: what is too long on the way is so afterwards.
        if let length = head.declaredLength, length > request.limit {
            return abort(.error(.tooLarge(limit: request.limit)))
        }
        return bytes.count
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        postHead()
        guard status == 200 else {
            received += Int64(bytes.count)
            return received <= Self.unwantedLimit ? bytes.count : abort(.unwanted)
        }
        // Counted here and not left to CURLOPT_MAXFILESIZE: "If the file size is not known prior to the download start,
        // the option has no effect", nor does it count what decompression makes of it.
        guard received + Int64(bytes.count) <= request.limit else {
            return abort(.error(.tooLarge(limit: request.limit)))
        }
        switch request.destination {
        case .stream:
            guard mailbox.post(bytes) else { return Int(CURL_WRITEFUNC_PAUSE) }
        case .file(let file):
            if let code = bytes.written(to: file.descriptor) { return abort(.error(.disk(code: code))) }
            mailbox.post(written: received + Int64(bytes.count))
        }
        received += Int64(bytes.count)
        return bytes.count
    }

    private func postHead() {
        guard !isHeadPosted else { return }
        isHeadPosted = true
        let length = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        if length >= 0 { request.meter?.note(length: length) }
        mailbox.post(
            HTTPResponse(
                status: status, url: easy.string(CURLINFO_EFFECTIVE_URL), headers: head.headers,
                length: length >= 0 && head.headers["content-encoding"] == nil ? length : nil))
    }

    /// A count other than what came ends the transfer.
    private func abort(_ reason: Stop) -> Int {
        stop = reason
        return 0
    }

    /// The part of the URL between the slashes, for a message.
    private var host: String {
        String(request.url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" })
    }
}
