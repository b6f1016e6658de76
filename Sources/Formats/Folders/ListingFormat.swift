/// The format of a folder's list.
public enum ListingFormat: String, CaseIterable, Sendable {
    /// A web page with links, such as a web server's.
    case html
    /// JSON, such as that of nginx, Caddy or copyparty.
    case json
    /// The XML of nginx.
    case xml
    /// The answer of a WebDAV server.
    case multistatus
    /// The list of a storage service's bucket.
    case bucket

    /// Recognises the format of an answer. Returns nil if the answer is not the list of a folder.
    ///
    /// - Parameter beginning: the first bytes of the answer, at least ``beginningLength`` unless it is shorter.
    public init?(contentType: String?, beginning: [UInt8]) {
        // The first piece of an answer may be long.
        let beginning = Array(beginning.prefix(Self.beginningLength))
        // Servers state wrong types for gallery files, whose outermost element may have any name.
        if Self.isGalleryFile(beginning) { return nil }
        if WebDAVParser.recognises(contentType: contentType, beginning: beginning) {
            self = .multistatus
        } else if BucketParser.recognises(beginning) {
            self = .bucket
        } else if XMLListingParser.recognises(contentType: contentType, beginning: beginning) {
            self = .xml
        } else if JSONListingParser.recognises(beginning) {
            self = .json
        } else if HTMLListingParser.recognises(contentType: contentType, beginning: beginning) {
            self = .html
        } else {
            return nil
        }
    }

    /// Whether a document begins like a gallery file. Such a document begins like XML, but not like a web page.
    private static func isGalleryFile(_ beginning: [UInt8]) -> Bool {
        if beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) { return true }
        let text = String(decoding: beginning, as: UTF8.self).lowercased()
        guard !text.contains("<html"), !text.contains("<!doctype html") else { return false }
        if text.contains("<photo ") || text.contains("<photo>") { return true }
        guard text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).hasPrefix("<?xml") else { return false }
        return !["multistatus", "<list", "response"].contains { text.contains($0) }
    }

    /// The number of bytes needed to recognise the format.
    public static let beginningLength = 1_024

    /// Creates a parser for the list of a folder.
    ///
    /// - Parameters:
    ///   - previews: the addresses of small pictures, if the server makes some.
    ///   - prefix: the decoded beginning of the folder's keys in a bucket.
    public func makeParser(
        for folder: ListedFolder, previews: WebDAVParser.Previews? = nil, prefix: [UInt8] = []
    ) -> any ListingParser {
        switch self {
        case .html: HTMLListingParser(folder: folder)
        case .json: JSONListingParser(folder)
        case .xml: XMLListingParser(folder: folder)
        case .multistatus: WebDAVParser(folder: folder, previews: previews)
        case .bucket: BucketParser(prefix: prefix)
        }
    }
}
