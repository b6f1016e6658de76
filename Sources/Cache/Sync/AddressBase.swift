import Glibc
import Model
import SQLite

/// The common beginning of a gallery's photo and thumbnail addresses. The database stores this beginning only once.
///
///     gallery.address_base   https://example.org/photos/
///     photo.photo_address    2024/lake.jpg
///
/// Addresses are the longest texts of most rows. An address that does not begin with the base is stored whole. A
/// shortened address never contains a colon, and a whole address always does. The base stays the same while the gallery
/// has photos.
struct AddressBase: Sendable {
    private let bytes: [UInt8]

    /// Chooses the base of a gallery that has no photos yet. The base is the folder of the gallery's list, or else the
    /// server of the first photo.
    ///
    /// - Parameter first: the address of the first photo.
    init(list: Address, first: ArraySlice<UInt8>) {
        let folder = Array(list.folder.text.utf8)
        let slash = UInt8(ascii: "/")
        // The server's part of an address ends with the third slash.
        let server = first.indices.lazy.filter { first[$0] == slash }.dropFirst(2).first.map { first[...$0] }
        bytes = first.starts(with: folder) ? folder : Array(server ?? [])
    }

    /// Reads the base of a gallery with photos.
    init(_ connection: Connection) throws {
        bytes = Array(try connection.first("SELECT address_base FROM gallery") { $0.text(0) }?.utf8 ?? "".utf8)
    }

    /// Stores the base, unless the gallery has photos.
    func store(_ connection: Connection) throws {
        try connection.run(
            "UPDATE gallery SET address_base = ? WHERE NOT EXISTS (SELECT 1 FROM photo)",
            String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the SQL expression for a photo's whole address in a column.
    ///
    /// The fetcher can write a base of any length. The expression ignores a base that is too long, because each row of
    /// a query would contain it.
    static func whole(_ column: String) -> String {
        """
        iif(instr(\(column), ':'), \(column), \
        (SELECT address_base FROM gallery WHERE length(address_base) <= \(Address.maximumLength)) || \(column))
        """
    }

    /// Returns the text to store: the address, or its end after the base.
    func stored(_ address: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        // The C library's functions compare a million addresses in a fraction of the time of loops over single bytes.
        guard !bytes.isEmpty, address.count > bytes.count, let start = address.baseAddress,
            memcmp(start, bytes, bytes.count) == 0,
            memchr(start + bytes.count, Int32(UInt8(ascii: ":")), address.count - bytes.count) == nil
        else { return address }
        return UnsafeRawBufferPointer(rebasing: address[bytes.count...])
    }
}
