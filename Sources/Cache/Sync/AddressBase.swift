import Glibc
import Model
import SQLite

/// The common beginning of the addresses of a gallery's photos and thumbnails, which the database contains only once.
///
///     gallery.address_base   https://example.org/photos/
///     photo.photo_address    2024/lake.jpg
///
/// Addresses are the longest texts of most rows. An address that does not begin with the base is stored whole. A
/// shortened address never contains a colon, and a whole address always does. The base stays the same while the gallery
/// has photos.
struct AddressBase {
    private let bytes: [UInt8]

    /// Reads the gallery's base.
    init(_ connection: Connection) throws {
        bytes = Array(try connection.first("SELECT address_base FROM gallery") { $0.text(0) }?.utf8 ?? "".utf8)
    }

    /// Returns the SQL expression for the whole address in a column of the table of photos.
    static func whole(_ column: String) -> String {
        "iif(instr(\(column), ':'), \(column), (SELECT address_base FROM gallery) || \(column))"
    }

    /// Returns the text to store for an address, which is the address itself or its end.
    func stored(_ address: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard !bytes.isEmpty, address.count > bytes.count, address.begins(with: bytes) else { return address }
        let end = UnsafeRawBufferPointer(rebasing: address[bytes.count...])
        return end.hasColon ? address : end
    }

    /// Stores the base of a gallery without photos.
    ///
    /// Later lists may contain photos in other folders. So if all addresses are in the folder of the gallery's address
    /// or of its source, that folder becomes the base.
    ///
    /// - Parameter common: the common beginning of the addresses in the first list, or in its first part.
    static func store(_ common: CommonBeginning, of source: ListSource?, _ connection: Connection) throws {
        let gallery = try connection.first("SELECT address FROM gallery") { $0.text(0) }
        let folders = [source?.root.text, gallery].compactMap { $0 }.map { CommonBeginning(of: Array($0.utf8)) }
        let base = folders.filter { common.bytes.starts(with: $0.bytes) }.max { $0.bytes.count < $1.bytes.count }
        try connection.run(
            "UPDATE gallery SET address_base = ? WHERE NOT EXISTS (SELECT 1 FROM photo)",
            String(decoding: (base ?? common).bytes, as: UTF8.self))
    }
}

/// The common beginning of several addresses. The beginning is empty or ends with a slash.
struct CommonBeginning: Sendable {
    /// The bytes of the beginning.
    private(set) var bytes: [UInt8]

    /// Creates the beginning of one address: its scheme, its host and the folders of its path.
    init(of address: some BidirectionalCollection<UInt8>) {
        let path = address.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        bytes = Array(path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    }

    /// Shortens the beginning to that part which another address has, too.
    mutating func shorten(toMatch address: ArraySlice<UInt8>) {
        guard !address.withUnsafeBytes({ $0.begins(with: bytes) }) else { return }
        let same = zip(bytes, address).prefix { $0 == $1 }.count
        bytes = Array(bytes[..<same])
        bytes.removeSubrange(((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...)
    }
}

/// The C library's functions compare a million addresses in a fraction of the time of loops over single bytes.
extension UnsafeRawBufferPointer {
    fileprivate func begins(with bytes: [UInt8]) -> Bool {
        guard count >= bytes.count, let start = baseAddress else { return bytes.isEmpty }
        return memcmp(start, bytes, bytes.count) == 0
    }

    fileprivate var hasColon: Bool {
        guard let start = baseAddress else { return false }
        return memchr(start, Int32(UInt8(ascii: ":")), count) != nil
    }
}
