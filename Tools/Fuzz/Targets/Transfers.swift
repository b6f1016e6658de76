#if DEBUG || FUZZING
    import Dispatch
    import Glibc
    import HTTP
    import Logging
    import Numbers
    import Synchronization
    import TestSupport

    /// Whole transfers: the bytes that a server sends, up to the client's result.
    extension FuzzTarget {
        static let transfers = [transfer]

        private static let transfer = FuzzTarget("transfer") { bytes in try exchange.get().fetch(bytes) }
        private static let exchange = Result { try Exchange() }
    }

    /// The real client, and a server that sends it the bytes of an input.
    ///
    /// The client uses the server as its proxy for all hosts, so that no redirect leads out of this process. The first byte
    /// of an input chooses the kind of request. Bytes of 255 divide the rest into the answers to its requests.
    private final class Exchange: Sendable {
        private struct Script {
            /// The number of the input, which the addresses contain. Requests of earlier inputs get no answer.
            var number = 0
            var answers: [ArraySlice<UInt8>] = []
        }

        private let script = Mutex(Script())
        private let server: ScriptedServer
        private let client: HTTPClient
        private let descriptor: Int32

        /// The limit of a small and of a large body.
        private static let limits: [ByteCount] = [100, 1 << 20]
        /// The bytes that an earlier transfer has left, if the request resumes it.
        private static let held = 16

        init() throws {
            let answer = Mutex<@Sendable (String) -> [UInt8]?>({ _ in nil })
            server = try ScriptedServer { request in
                answer.withLock { $0 }(request.path).map { [.send($0), .close] } ?? [.close]
            }
            let proxy = "http://127.0.0.1:\(server.port)"
            client = HTTPClient(
                HTTPConfiguration(
                    proxies: ProxyChoice { $0 == "all_proxy" ? proxy : nil }, connectTimeout: 5, stallTimeout: 5),
                log: Log())
            let folder = TestFolder()
            descriptor = open(folder.path("body"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            answer.withLock { $0 = { [self] in next($0) } }
        }

        /// Returns the next answer; nil if there is none, or if the request belongs to an earlier input.
        private func next(_ path: String) -> [UInt8]? {
            script.withLock { script in
                let isOld = path.hasPrefix("http://photos.test/") && path != "http://photos.test/\(script.number)"
                return isOld || script.answers.isEmpty ? nil : Array(script.answers.removeFirst())
            }
        }

        func fetch(_ bytes: [UInt8]) throws {
            let options = bytes.first ?? 0
            let number = script.withLock { script in
                script.number += 1
                script.answers = bytes.dropFirst().split(separator: 0xFF, omittingEmptySubsequences: false)
                return script.number
            }
            server.forgetRequests()
            let request = try request(number, options)
            let isDone = DispatchSemaphore(value: 0)
            Task.detached { [self] in
                await take(request)
                isDone.signal()
            }
            isDone.wait()
            var status = stat()
            fstat(descriptor, &status)
            require(ByteCount(status.st_size) <= max(request.limit, ByteCount(Self.held)), "the file exceeds the limit")
        }

        private func request(_ number: Int, _ options: UInt8) throws -> HTTPRequest {
            func isSet(_ bit: UInt8) -> Bool { options & 1 << bit != 0 }
            var request = HTTPRequest(
                url: "http://photos.test/\(number)", destination: .stream, limit: Self.limits[isSet(0) ? 0 : 1],
                allowsCompression: isSet(1), meter: TransferMeter())
            if isSet(2) { request.credentials = .init(user: "anna", password: "secret") }
            if isSet(3) { request.wantsRefusals = true }
            if isSet(4) { request.wantedBytes = 8..<64 }
            guard isSet(5) else { return request }
            ftruncate(descriptor, isSet(6) ? off_t(Self.held) : 0)
            request.destination = .file(try BodyFile(duplicating: descriptor))
            if isSet(6) { request.resumption = .init(offset: ByteCount(Self.held), validator: "\"a\"") }
            if isSet(7) { request.pieces = .init(size: 64, window: 256, most: 4) }
            return request
        }

        private func take(_ request: HTTPRequest) async {
            var taken: ByteCount = 0
            do {
                for try await event in client.transfer(request) {
                    switch event {
                    case .response(let response): taken = response.begin
                    case .bytes(let bytes): taken += ByteCount(bytes.count)
                    case .written(let end): taken = end
                    case .end: break
                    }
                    require(taken <= max(request.limit, 64 << 10), "the client passed on more than the limit")
                }
            } catch {
                require(!"\(error)".isEmpty, "an error has no description")
            }
        }
    }
#endif
