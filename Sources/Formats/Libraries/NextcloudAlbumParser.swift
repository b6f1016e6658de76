import Model

/// Parses a Nextcloud server's list of a user's albums, which is an answer to `PROPFIND`.
public final class NextcloudAlbumParser: LibraryParser {
    private let server: Address
    private let parser: WebDAVParser

    /// Creates a parser for one answer.
    ///
    /// - Parameters:
    ///   - folder: the address of the list, with a slash at its end.
    ///   - server: the address below which the server has its pages, with a slash at its end.
    public init(folder: Address, server: Address) {
        self.server = server
        parser = WebDAVParser(folder: ListedFolder(folder))
    }

    /// The list has one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { albums(try parser.parse(bytes)) }

    /// Parses the end. Throws if the answer is incomplete.
    public func finish() throws -> [Album] { albums(try parser.finish()) }

    private func albums(_ piece: ListingPiece) -> [Album] {
        piece.folders.compactMap { folder in
            let name = PercentEncoding.encode(folder.name, keepingEscapes: false)
            // The address that a browser shows.
            guard let address = try? server.resolving("apps/photos/albums/\(name)"),
                address.text.utf8.count <= Address.maximumLength
            else { return nil }
            return Album(.album, at: address, name: AlbumText.name(folder.name), count: folder.count)
        }
    }
}
