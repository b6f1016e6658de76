import CLibXML2
import Glibc

/// The name of an element or an attribute that a gallery's file may have.
struct XMLName: Sendable {
    private let text: StaticString

    private init(_ text: StaticString) {
        self.text = text
    }

    static let photo = Self("photo")
    static let image = Self("image")
    static let id = Self("id")
    static let name = Self("name")
    static let date = Self("date")
    static let kind = Self("kind")
    static let reference = Self("srcURL")
    static let thumbnail = Self("thumbnail")

    /// Whether libxml2's name is this one.
    static func == (pointer: UnsafePointer<xmlChar>, name: XMLName) -> Bool {
        strcmp(
            UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self),
            UnsafeRawPointer(name.text.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }

    /// Whether a value is this one.
    static func == (value: UnsafeRawBufferPointer, name: XMLName) -> Bool {
        value.count == name.text.utf8CodeUnitCount
            && value.baseAddress.map { memcmp($0, name.text.utf8Start, value.count) == 0 } ?? false
    }
}
