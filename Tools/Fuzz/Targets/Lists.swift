#if DEBUG || FUZZING
    import Model

    @testable import Formats

    /// The lists of photos that servers send. A list in pieces has the same contents as the whole list.
    extension FuzzTarget {
        static let lists = [gallery, json, library, listing, feed]

        private static let base = "http://photos.test/albums/summer/"

        private static let gallery = FuzzTarget("gallery") { bytes in
            let base = try Address(base + "index.xml")
            func entries(_ pieces: [[UInt8]]) throws -> [String] {
                let parser = GalleryXMLParser(base: base)
                var (entry, texts) = (EntryBytes(), [String]())
                func take(_ photos: WrittenPhotos) {
                    var photos = photos
                    for index in 0..<photos.count {
                        let digest = photos.digest(at: index)
                        guard photos.read(index, into: &entry) else { continue }
                        texts.append(
                            EntryBytes.Part.allCases.map { entry.text($0) }.joined(separator: "|") + "|\(entry.date)")
                        require(digest != nil, "a photo without a digest")
                        require((try? Address(entry.text(.photo))) != nil, "an unusable address \(entry.text(.photo))")
                    }
                }
                for piece in pieces { take(try parser.parse(piece)) }
                take(try parser.finish())
                return texts
            }
            let whole = try entries([bytes])
            require((try? entries(bytes.pieces)) == whole, "pieces differ from the whole")
        }

        private static let json = FuzzTarget("json") { bytes in
            for keepsInvalidText in [false, true] {
                let whole = JSONRecorder.outcome(of: [bytes], keepsInvalidText)
                require(
                    JSONRecorder.outcome(of: bytes.pieces, keepsInvalidText) == whole, "pieces differ from the whole")
            }
        }

        private static let library = FuzzTarget("library") { bytes in
            let server = try Address("http://photos.test/")
            let choice = Choice(bytes, of: 30)
            func check<Item>(_ parser: () -> any LibraryParser<Item>) throws {
                func items(_ pieces: [[UInt8]]) throws -> String {
                    let parser = parser()
                    var items: [Item] = []
                    for piece in pieces { items += try parser.parse(piece) }
                    items += try parser.finish()
                    return "\(items) \(parser.nextPage ?? "-") \(parser.mayLackPhotos) \(parser.galleryName ?? "-")"
                }
                let whole = try items([choice.rest])
                require((try? items(choice.rest.pieces)) == whole, "pieces differ from the whole")
            }
            func checkShare(_ name: String?) throws {
                let page = try accepted(ImmichSharePage(name: name))
                try check { page.makeParser(server: server) }
            }
            let id = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
            switch choice.number {
            case 0: try check { ImmichPhotoParser(server: server) }
            case 1: try check { ImmichMonthListParser() }
            case 2: try check { ImmichMonthParser() }
            case 3: try check { ImmichAlbumParser(server: server) }
            case 4: try check { ImmichPeopleParser(page: nil, server: server) }
            case 5: try checkShare(nil)
            case 6: try checkShare("\(id) originals")
            case 7: try checkShare("\(id) previews 2024-05-01 2024-04-01")
            case 8: try check { PhotoPrismPhotoParser(server: server, offset: 0, pageSize: 500) }
            case 9: try check { PhotoPrismMemberParser() }
            case 10: try check { PhotoPrismMonthListParser() }
            case 11: try check { PhotoPrismAlbumParser(.album, server: server, offset: 500, pageSize: 500) }
            case 12: try check { PhotoPrismAlbumParser(.person, server: server, offset: 0, pageSize: 500) }
            case 13: try check { PiwigoPhotoParser(server: server) }
            case 14: try check { PiwigoPhotoParser(server: server, total: .ofFavorites) }
            case 15: try check { PiwigoAlbumListParser() }
            case 16: try check { PiwigoAlbumParser(.album, server: server) }
            case 17: try check { NextcloudAlbumParser(folder: server.appending("albums/"), pages: server) }
            case 18: try accepted(LoginFlow(json: choice.rest))
            case 19: try accepted(LoginGrant(json: choice.rest))
            case 20: try accepted(AccountAnswer(json: choice.rest))
            case 21: try check { ImmichTagParser(server: server) }
            case 22: try check { ImmichTagFinder(value: Array("Trips/Rome".utf8)) }
            case 23: try check { PhotoPrismAlbumParser(.label, server: server, offset: 0, pageSize: 500) }
            case 24: try check { PiwigoPhotoParser(server: server, total: .unreliable) }
            case 25: try check { PiwigoAlbumParser(.tag, server: server) }
            case 26: try check { PhotoPrismVisitParser() }
            case 27: try accepted(PhotoPrismSharePage(name: choice.rest.text))
            case 28: try accepted(ImmichSharePage(name: choice.rest.text))
            default: _ = try PhotoPrismSettings(json: choice.rest)
            }
        }

        private static let listing = FuzzTarget("listing") { bytes in
            let folder = ListedFolder(try Address(base))
            let formats = ListingFormat.allCases
            let choice = Choice(bytes, of: formats.count + 2)
            let rest = choice.rest
            let found = ListingFormat(contentType: nil, beginning: rest)
            if choice.number == formats.count + 1 {
                try accepted(BucketRefusal(status: 403, region: nil, body: rest))
                return
            }
            let format = try accepted(choice.number < formats.count ? formats[choice.number] : found)
            func list(_ pieces: [[UInt8]]) throws -> ListingPiece {
                let parser = format.makeParser(
                    for: folder, previews: .init(root: try Address("http://photos.test/")),
                    prefix: Array("summer/".utf8))
                var list = ListingPiece()
                func add(_ piece: ListingPiece) {
                    list.files += piece.files
                    list.folders += piece.folders
                    list.etag = piece.etag ?? list.etag
                    list.caddyEntryCount += piece.caddyEntryCount
                    list.hasParentLink = list.hasParentLink || piece.hasParentLink
                    list.skipped += piece.skipped
                    list.nextPage = piece.nextPage ?? list.nextPage
                }
                for piece in pieces { add(try parser.parse(piece)) }
                add(try parser.finish())
                return list
            }
            let whole = try list([rest])
            for name in whole.folders.map(\.name) + whole.files.filter({ $0.photo == nil }).map(\.name) {
                require(!name.isEmpty && !name.contains(0), "an unusable name \(name)")
                // The keys of a bucket are paths.
                require(format == .bucket || ListedFolder.isSound(name), "a name outside the folder \(name.text)")
            }
            require((try? list(rest.pieces)) == whole, "pieces differ from the whole")
        }

        private static let feed = FuzzTarget("feed") { bytes in
            let base = try Address(base + "feed")
            let choice = Choice(bytes, of: 2)
            _ = (FeedParser.recognises(choice.rest), JSONFeedParser.recognises(choice.rest))
            func photos(_ pieces: [[UInt8]]) throws -> [LibraryPhoto] {
                let parser: any LibraryParser<LibraryPhoto> =
                    choice.number == 0 ? FeedParser(base: base) : JSONFeedParser(base: base)
                var photos: [LibraryPhoto] = []
                for piece in pieces { photos += try parser.parse(piece) }
                return photos + (try parser.finish())
            }
            let whole = try photos([choice.rest])
            require((try? photos(choice.rest.pieces)) == whole, "pieces differ from the whole")
        }
    }

    /// Writes the events of a JSON document as a text.
    private struct JSONRecorder: JSONConsumer {
        private var events: [String] = []

        mutating func take(_ event: JSONEvent, depth: Int) {
            let text =
                switch event {
                case .beginObject: "{"
                case .endObject: "}"
                case .beginArray: "["
                case .endArray: "]"
                case .key(let name): "\(Array(name)):"
                case .string(let text): "'\(Array(text))'"
                case .number(let digits): "#\(Array(digits))"
                case .bool(let value): "\(value)"
                case .null: "null"
                }
            events.append("\(depth)\(text)")
        }

        /// Returns the events of the pieces, and the error that ends them.
        static func outcome(of pieces: [[UInt8]], _ keepsInvalidText: Bool) -> String {
            var (stream, recorder) = (JSONPushStream(keepsInvalidText: keepsInvalidText), JSONRecorder())
            do {
                for piece in pieces { try stream.push(piece, to: &recorder) }
                try stream.finish(to: &recorder)
            } catch {
                recorder.events.append("\(error)")
            }
            return recorder.events.joined(separator: " ")
        }
    }
#endif
