import CCurl

/// Reads curl's times of one transfer, and tells its meter.
///
/// curl adds up: when it sends a request again, with a password, what the second one took is added to what the first
/// took. So the sums are noted each time a request goes out, and only what was added since is told.
struct TransferClock {
    private let meter: TransferMeter?
    /// Whether it is a proxy that curl connects to.
    private let isBehindProxy: Bool
    private var connects = 0
    /// The sums when the last request went out, in seconds.
    private var (connecting, waiting) = (0.0, 0.0)
    private var isAnswered = false

    init(_ meter: TransferMeter?, isBehindProxy: Bool) {
        self.meter = meter
        self.isBehindProxy = isBehindProxy
    }

    /// A connection stands, and a request is about to go out over it.
    mutating func noteRequest(_ easy: EasyHandle) {
        guard let meter else { return }
        let count = easy.long(CURLINFO_NUM_CONNECTS)
        let spent = easy.seconds(CURLINFO_CONNECT_TIME_T) - easy.seconds(CURLINFO_NAMELOOKUP_TIME_T)
        let isOfHost = count > connects && !isBehindProxy
        meter.noteConnected(isOfHost ? max(0, spent - connecting) : nil)
        (connects, connecting, waiting) = (count, spent, Self.wait(easy))
        isAnswered = false
    }

    /// An answer's head is there; the first of them counts.
    mutating func noteAnswer(_ easy: EasyHandle) {
        guard let meter, !isAnswered else { return }
        isAnswered = true
        let version: TransferMeter.Version = easy.long(CURLINFO_HTTP_VERSION) >= CURL_HTTP_VERSION_2_0 ? .http2 : .http1
        meter.noteAnswered(after: max(0, Self.wait(easy) - waiting), version: version)
    }

    private static func wait(_ easy: EasyHandle) -> Double {
        easy.seconds(CURLINFO_STARTTRANSFER_TIME_T) - easy.seconds(CURLINFO_PRETRANSFER_TIME_T)
    }
}
