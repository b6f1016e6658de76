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

        private static let transfer = FuzzTarget("transfer") { bytes in try exchange.fetch(bytes) }
        // Without a server, each input would count as refused.
        private static let exchange = try! Exchange()
    }

    /// The real client, and a server that sends it the bytes of an input.
    ///
    /// The client uses the server as its proxy for all hosts, so that no redirect leads out of this process. The first byte
    /// of an input chooses the kind of request. Bytes of 255 divide the rest into the answers to its requests.
    private final class Exchange: Sendable {
        private let answers = Answers()
        private let server: ScriptedServer
        private let client: HTTPClient
        private let descriptor: Int32

        /// The limit of a small and of a large body.
        private static let limits: [ByteCount] = [100, 1 << 20]
        /// The bytes that an earlier transfer has left, if the request resumes it.
        private static let held = 16

        init() throws {
            server = try ScriptedServer { [answers] request in
                answers.next(for: request).map { [.send($0), .close] } ?? [.close]
            }
            let proxy = "http://127.0.0.1:\(server.port)"
            client = HTTPClient(
                HTTPConfiguration(
                    proxies: ProxyChoice { $0 == "all_proxy" ? proxy : nil }, connectTimeout: 5, stallTimeout: 5),
                log: Log())
            let folder = TestFolder()
            descriptor = open(folder.path("body"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            require(descriptor >= 0, "the file of the bodies cannot be made")
        }

        func fetch(_ bytes: [UInt8]) throws {
            let options = bytes.first ?? 0
            let number = answers.set(
                bytes.dropFirst().split(separator: 0xFF, omittingEmptySubsequences: false),
                after: server.connectionCount)
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
                url: "http://n\(number).photos.test/", destination: .stream, limit: Self.limits[isSet(0) ? 0 : 1],
                allowsCompression: isSet(1), meter: TransferMeter())
            if isSet(2) { request.credentials = .init(user: "anna", password: "secret") }
            if isSet(3) { request.wantsRefusals = true }
            if isSet(4) { request.wantedBytes = 8..<64 }
            ftruncate(descriptor, isSet(5) && isSet(6) ? off_t(Self.held) : 0)
            guard isSet(5) else { return request }
            request.destination = .file(try BodyFile(duplicating: descriptor))
            if isSet(6) { request.resumption = .init(offset: ByteCount(Self.held), validator: "\"a\"") }
            if isSet(7) { request.pieces = .init(size: 64, window: 256, most: 4) }
            return request
        }

        private func take(_ request: HTTPRequest) async {
            var taken: ByteCount = 0
            // The client passes on the beginning of a refusal whatever the limit is.
            var limit = request.limit
            do {
                for try await event in client.transfer(request) {
                    switch event {
                    case .response(let response):
                        taken = response.begin
                        if request.wantsRefusals, response.status >= 300 { limit = max(limit, 64 << 10) }
                    case .bytes(let bytes): taken += ByteCount(bytes.count)
                    case .written(let end): taken = end
                    case .end: break
                    }
                    require(taken <= limit, "the client passed on more than the limit")
                }
            } catch {
                require(!"\(error)".isEmpty, "an error has no description")
            }
        }
    }

    /// The answers of an input that were not sent yet.
    private final class Answers: Sendable {
        private struct Rest {
            /// The number of the input. Each input has a host of its own, because the client remembers how hosts behave.
            var number = 0
            /// The connections of earlier inputs.
            var earlier = 0
            var answers: [ArraySlice<UInt8>] = []
        }

        private let rest = Mutex(Rest())

        /// Replaces the answers. Returns the number of the new input.
        func set(_ answers: [ArraySlice<UInt8>], after connections: Int) -> Int {
            rest.withLock { rest in
                rest = Rest(number: rest.number + 1, earlier: connections, answers: answers)
                return rest.number
            }
        }

        /// Returns the next answer. Returns nil if there is none, or if the request came over an earlier input's connection.
        func next(for request: ScriptedServer.Request) -> [UInt8]? {
            rest.withLock { rest in
                guard request.connection > rest.earlier, !rest.answers.isEmpty else { return nil }
                return Array(rest.answers.removeFirst())
            }
        }
    }
#endif
