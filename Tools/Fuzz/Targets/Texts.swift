#if DEBUG || FUZZING
    import Cells
    import FetcherWire
    import Glibc
    import Model
    import Numbers
    import Text

    @testable import Cache
    @testable import Export
    @testable import HTTP
    @testable import Settings
    @testable import Terminal

    /// Addresses, headers, terminal input, the user’s files, and texts for the screen.
    extension FuzzTarget {
        static let texts = [address, head, text, terminal, settings, rating, message]

        /// Messages between the two programs. A message that was read is written again as it was read.
        private static let message = FuzzTarget("message") { bytes in
            func check<Message: WireValue & Equatable>(_ type: Message.Type, _ bytes: [UInt8]) throws {
                let message = try MessageConnection.read(type, from: bytes)
                var writer = WireWriter()
                writer.append(message)
                let again = try? MessageConnection.read(type, from: writer.bytes)
                require(again == message, "not read as written: \(message)")
            }
            let choice = Choice(bytes, of: 3)
            switch choice.number {
            case 0: try check(FetcherSetup.self, choice.rest)
            case 1: try check(ScreensNews.self, choice.rest)
            default: try check(FetcherNews.self, choice.rest)
            }
        }

        private static let address = FuzzTarget("address") { bytes in
            let base = try Address("https://photos.test/albums/index.xml?page=2")
            let reference = bytes.text
            if let resolved = try? base.resolving(reference) {
                require((try? Address(resolved.text)) == resolved, "\(resolved.text) is not read as written")
            }
            _ = (Address.withoutCredentials(reference), Address(filePath: bytes).text, Origin(reference))
            let hidden = reference.withoutSecrets
            require(hidden.withoutSecrets == hidden, "secrets are hidden twice: \(hidden)")
            let address = try Address(reference)
            require((try? Address(address.text)) == address, "\(address.text) is not read as written")
            require(address.text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "an unsafe address")
            _ = (address.description, address.folder, address.asFolder, address.filePathBytes, address.shownHost)
            _ = (address.appending("a b%"), address.restoringSecrets(of: base), address.origin?.place)
            _ = try address.resolving("../x")
        }

        private static let head = FuzzTarget("head") { bytes in
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) + [0x0A] }
            var head = ResponseHead()
            for line in lines { line.withUnsafeBytes { _ = head.take($0) } }
            _ = (head.hasTwoLengths, head.declaredLength, head.location)
            for challenge in head.challenges {
                let found = HTTPChallenge.all(in: [challenge.text], isProxy: challenge.isProxy)
                require(found.count <= 16 && found.allSatisfy { $0.realm.count <= 256 }, "too many challenges")
            }
            let length = head.declaredLength
            _ = ContentRange(head.headers["content-range"])?.isAnswer(to: 7..<ByteCount(digits: "99")!)
            for status in [200, 206, 416] {
                _ = try? WantedBytes(range: 0..<65_536).judge(status: status, head.headers, length: length)
                _ = try? WantedBytes(range: 7..<65_536).judge(status: status, head.headers, length: length)
            }
            let response = HTTPResponse(status: 200, url: "http://photos.test/", headers: head.headers)
            _ = response.resumptionValidator
            for value in head.headers.values {
                _ = (
                    HTTPDate.seconds(value), HTTPDate.seconds(from: value, to: value),
                    ContentRange(value, unknown: .most)
                )
            }
            let shown = HTTPHeadText(bytes.text, hiding: .init(header: "X-Own", value: "s3cret")).description
            require(!shown.contains { $0.isNewline }, "a head of several lines")
        }

        private static let text = FuzzTarget("text") { bytes in
            let text = bytes.text
            let shown = text.madeVisible
            for scalar in shown.unicodeScalars {
                let isControl = scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
                let isInvisible = 0x200B...0x200F ~= scalar.value || 0x202A...0x202E ~= scalar.value
                let isOther =
                    0x2066...0x2069 ~= scalar.value || 0xE0000...0xE0FFF ~= scalar.value || scalar.value == 0xFEFF
                require(!isControl && !isInvisible && !isOther, "U+\(String(scalar.value, radix: 16)) is shown")
            }
            require(shown.madeVisible == shown, "a shown text changes when it is shown")
            require(shown.displayWidth == text.displayWidth, "a shown text has another width")
            for width in [0, 1, 2, 7, 40] {
                require(text.truncated(toWidth: width).displayWidth <= width, "a shortened text is too wide")
            }
            _ = (
                text.wrapped(toWidth: 20), text.shellWord, HostName.shown(text), HostName.ascii(text),
                Base64.decode(bytes)
            )
            if bytes.count.isMultiple(of: 16) { _ = QRCode(text) }
        }

        private static let terminal = FuzzTarget("terminal") { bytes in
            func read(_ pieces: [[UInt8]]) -> String {
                var (parser, inquiry) = (InputParser(), Inquiry(number: 31))
                _ = inquiry.ask(Set(TerminalQuestion.allCases), on: .init(columns: 80, rows: 24))
                var events: [InputEvent] = []
                for piece in pieces {
                    events += parser.parse(piece)
                    for reply in parser.takeReplies() { inquiry.take(reply) }
                }
                return "\(events + parser.parsePending()) \(inquiry.answers)"
            }
            // Longer sequences are dropped up to where the piece ends.
            guard bytes.count < InputParser.maximumSequence else { return }
            let whole = read([bytes])
            require(read(bytes.pieces) == whole, "pieces differ from the whole")
        }

        private static let settings = FuzzTarget("settings") { bytes in
            let text = bytes.text
            var settings = Settings()
            for mistake in SettingsFile.apply(text, path: "/settings", to: &settings) {
                _ = (mistake.description, mistake.notice)
            }
            if !text.utf8.contains(0) {
                let option = SettingsTable.options[bytes.count % SettingsTable.options.count]
                let value = option.text(in: settings)
                let edited = SettingsEdit(text).setting(option, to: value)
                var again = Settings()
                _ = SettingsFile.apply(edited, path: "/settings", to: &again)
                require(option.text(in: again) == value, "\(option.name) is not \(value) in \(edited)")
            }
            let list = GalleryList(text: text)
            require(GalleryList(text: list.text).addresses == list.addresses, "the list of galleries changes")
            let places = Places(text: text)
            require(Places(text: places.text).text == places.text, "the positions change")
            _ = (places.last, UserFolders(text: text, home: "/home/me").pictures)
            let history = CommandHistory(text: text)
            require(CommandHistory(text: history.text) == history, "the history changes")
            _ = try? Invocation(text.split(separator: "\n").map(String.init)).command
        }

        private static let rating = FuzzTarget("rating") { bytes in
            let xmp = bytes.text
            if let rated = XMPRating(Rating(4)).text(in: xmp) {
                require(XMPRating(Rating(4)).text(in: rated) == rated, "a rated file changes when it is rated again")
            }
            let address = try Address("http://photos.test/")
            let folder = "/dev/shm/vitrine-fuzz-\(getpid())"
            mkdir(folder, 0o700)
            let path = "\(folder)/\(GalleryID(address))"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return }
            let contents = Array("# \(address.textWithoutSecrets)\n".utf8) + bytes
            let isWritten = write(descriptor, contents, contents.count) == contents.count
            close(descriptor)
            defer {
                unlink(path)
                rmdir(folder)
            }
            let file = RatingFile(folder: folder, of: address)
            guard isWritten, let before = try file.read() else { return }
            _ = try file.change(from: { [:] }) { ratings in ratings[[0x0A, 0x5C]] = Rating(3) }
            var expected = before.ratings
            expected[[0x0A, 0x5C]] = Rating(3)
            guard let after = try file.read() else { fatalError("the file of ratings is gone") }
            // Invalid text in an identifier becomes a replacement character when it is written.
            let isText = String(validating: bytes, as: UTF8.self) != nil
            require(!isText || after.ratings == expected, "ratings change")
            require(after.otherLines.count == before.otherLines.count, "unknown lines change")
        }
    }
#endif
