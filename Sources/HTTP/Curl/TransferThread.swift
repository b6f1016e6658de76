import CCurl
import Glibc
import Logging
import Numbers
import Synchronization

/// A thread that runs transfers over its own connections.
///
/// curl: "You must never share the same handle in multiple threads." So curl's handles are used on this thread only.
/// The exception is `curl_multi_wakeup`, which "can be called from any thread" and makes the thread read new commands.
final class TransferThread: @unchecked Sendable {
    enum Command {
        case start(Int, HTTPRequest, TransferMailbox)
        case resume(Int)
        case cancel(Int)
        case weigh(Int, Int)
        case abandon(Set<String>)
        case stop
    }

    private let curl: Curl
    private let configuration: HTTPConfiguration
    private let log: Log
    private let multi: OpaquePointer
    private let inbox = Mutex<[Command]>([])
    /// The running transfers by number. Used on the thread only.
    private var transfers: [Int: EasyTransfer] = [:]
    private let memory = AuthenticationMemory()
    private let turn = TransferTurn()
    private let connections = ConnectionTable()

    /// - Parameter streams: the maximum number of HTTP/2 transfers per connection; nil for the server's limit.
    init(_ curl: Curl, _ configuration: HTTPConfiguration, streams: Int? = nil, log: Log) throws(HTTPError) {
        self.curl = curl
        self.configuration = configuration
        self.log = log
        guard let made = ccurl_multi_init(curl.functions) else { throw .other("out of memory") }
        // curl creates a handle even if it got no descriptor for wakeups. With such a handle, the thread would sleep
        // forever.
        guard ccurl_multi_wakeup(curl.functions, made) == CURLM_OK else {
            ccurl_multi_cleanup(curl.functions, made)
            throw .tooFewDescriptors
        }
        multi = OpaquePointer(made)
        // "By default libcurl will enlarge the size for each added easy handle to make it fit 4 times the number of
        // added easy handles": after many transfers, most connections would be closed before the next ones.
        ccurl_multi_set_long(
            curl.functions, UnsafeMutableRawPointer(multi), CURLMOPT_MAXCONNECTS, configuration.warmConnections)
        guard let streams else { return }
        // "The set number will be used as the maximum number of concurrent streams for a connections that libcurl
        // should support on connections done using HTTP/2". The limit holds for the whole handle, so another limit
        // needs another thread.
        ccurl_multi_set_long(
            curl.functions, UnsafeMutableRawPointer(multi), CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
    }

    deinit {
        ccurl_multi_cleanup(curl.functions, UnsafeMutableRawPointer(multi))
    }

    func start() throws(HTTPError) {
        var thread = pthread_t()
        // The thread owns this object until it stops.
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                let thread = Unmanaged<TransferThread>.fromOpaque(context!).takeRetainedValue()
                thread.run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw .other("no thread can be started: \(String(cString: strerror(code)))")
        }
        pthread_detach(thread)
    }

    func stop() {
        send(.stop)
    }

    func send(_ command: Command) {
        inbox.withLock { $0.append(command) }
        ccurl_multi_wakeup(curl.functions, UnsafeMutableRawPointer(multi))
    }

    private func run() {
        let multi = UnsafeMutableRawPointer(multi)
        defer { turn.end() }
        while performCommands() {
            var running: Int32 = 0
            ccurl_multi_perform(curl.functions, multi, &running)
            finishTransfers()
            turn.end()
            // "If no easy handles are added, curl_multi_poll waits for the timeout or a wakeup." With handles, curl
            // shortens the wait itself.
            ccurl_multi_poll(curl.functions, multi, Int32.max)
        }
    }

    /// Performs all waiting commands. Returns false if the thread must end.
    private func performCommands() -> Bool {
        let commands = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        for command in commands {
            switch command {
            case .start(let number, let request, let mailbox): start(number, request, mailbox)
            case .resume(let number):
                guard let transfer = transfers[number] else { continue }
                let code = transfer.resume()
                if code != CURLE_OK { finish(transfer, code) }
            case .weigh(let number, let weight): transfers[number]?.setWeight(weight)
            case .cancel(let number): end(number, .failure(CancellationError()))
            case .abandon(let addresses): abandonConnections(from: addresses)
            case .stop:
                for number in Array(transfers.keys) { end(number, .failure(CancellationError())) }
                return false
            }
        }
        return true
    }

    private func start(_ number: Int, _ request: HTTPRequest, _ mailbox: TransferMailbox) {
        let transfer = EasyTransfer(number, request, curl, configuration, memory, connections, mailbox, turn, log: log)
        log.debug(.networkDetail, "#\(number) \(request.logged(request.url))")
        transfers[number] = transfer
        begin(transfer)
    }

    /// Sends a transfer's first or next request.
    private func begin(_ transfer: EasyTransfer, _ plan: ExchangePlan? = nil) {
        do {
            let easy = try transfer.begin(plan)
            let code = ccurl_multi_add_handle(curl.functions, UnsafeMutableRawPointer(multi), easy.pointer)
            guard code == CURLM_OK else {
                throw HTTPError.other(String(cString: ccurl_multi_strerror(curl.functions, code)))
            }
        } catch {
            end(transfer.number, .failure(error))
        }
    }

    private func finishTransfers() {
        while let message = ccurl_multi_info_read(curl.functions, UnsafeMutableRawPointer(multi)) {
            guard message.pointee.msg == CURLMSG_DONE, let pointer = message.pointee.easy_handle,
                let transfer = EasyTransfer.owning(pointer, curl)
            else { continue }
            // Read before the handle is removed: "the data the returned pointer points to will not survive".
            finish(transfer, ccurl_result(message))
        }
    }

    /// Continues or ends a transfer after an exchange.
    private func finish(_ transfer: EasyTransfer, _ code: CURLcode) {
        guard let easy = transfer.easy else { return }
        switch transfer.next(after: code) {
        case .end(let result):
            if case .success = result { transfer.recordPackets() }
            end(transfer.number, result)
        case .exchange(let plan):
            log.debug(
                .networkDetail,
                "#\(transfer.number) \(transfer.status): on to \(plan.request.logged(plan.hop.url.text))")
            remove(easy)
            begin(transfer, plan)
        }
    }

    private func end(_ number: Int, _ result: Result<HTTPMetrics, any Error>) {
        guard let transfer = transfers.removeValue(forKey: number) else { return }
        if let easy = transfer.easy {
            if case .failure(let error) = result {
                let ends = ConnectionEnds(easy)
                connections.abandon(ends)
                if error as? HTTPError == .stalled { giveUp(ends) }
            }
            remove(easy)
        }
        switch result {
        case .success(let metrics):
            log.debug(
                .networkDetail,
                "#\(number) \(transfer.status): \(metrics.bytes) bytes in \(Int(clamped: metrics.duration * 1000)) ms")
        case .failure(let error):
            log.debug(.networkDetail, "#\(number) \(error is CancellationError ? "cancelled" : "\(error)")")
        }
        transfer.end(result)
    }

    private func abandonConnections(from addresses: Set<String>) {
        for (number, transfer) in transfers {
            guard let easy = transfer.easy, addresses.contains(ConnectionEnds(easy).localAddress) else { continue }
            end(number, .failure(CancellationError()))
        }
        connections.shutDown(from: addresses)
    }

    private func giveUp(_ ends: ConnectionEnds) {
        let inUse = Set(transfers.values.compactMap { $0.easy.map { ConnectionEnds($0) } })
        connections.giveUp(ends, after: configuration.stallTimeout, inUse: inUse)
    }

    private func remove(_ easy: EasyHandle) {
        ccurl_multi_remove_handle(curl.functions, UnsafeMutableRawPointer(multi), easy.pointer)
    }
}
