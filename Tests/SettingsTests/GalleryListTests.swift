import Model
import Testing

@testable import Settings

@Suite struct GalleryListTests {
    private let one: Address
    private let two: Address
    private let folder = Address(filePath: "/home/me/Pictures")

    init() throws {
        one = try Address("http://example.org/one.xml")
        two = try Address("https://example.org/two.xml?a=b")
    }

    @Test func roundTrip() {
        let list = GalleryList([two, one, folder])
        #expect(GalleryList(text: list.text) == list)
        #expect(GalleryList(text: list.text).addresses == [two, one, folder])
        #expect(GalleryList(text: GalleryList(text: list.text).text).text == list.text)
    }

    @Test func emptyAndMissing() {
        #expect(GalleryList(text: "").addresses.isEmpty)
        #expect(GalleryList(text: GalleryList().text) == GalleryList())
    }

    @Test("BEHAVIOURS 6.1: none is remembered twice")
    func noneTwice() throws {
        var list = GalleryList([one, two, one])
        #expect(list.addresses == [one, two])
        #expect(list.add(one) == 0)
        // The same place, written in another way.
        #expect(list.add(try Address("HTTPS://EXAMPLE.org:443/x/../two.xml?a=b")) == 1)
        #expect(list.add(folder) == 2)
        #expect(list.addresses == [one, two, folder])
        #expect(GalleryList(text: "\(one)\n\(two)\n\(one)\n").addresses == [one, two])
    }

    @Test func removed() {
        var list = GalleryList([one, two, folder])
        list.remove(at: 1)
        #expect(list.addresses == [one, folder])
        #expect(GalleryList(text: list.text).addresses == [one, folder])
    }

    @Test func whatCannotBeReadIsKept() {
        let text = "# mine\n\(one)\n# mine\nhttp//forgot.the/colon\n\n  \(two)  \nftp://example.org/\n"
        var list = GalleryList(text: text)
        #expect(list.addresses == [one, two])
        list.remove(at: 0)
        list.add(folder)
        let lines = list.text.split(separator: "\n").dropFirst()
        #expect(lines == ["# mine", "# mine", "http//forgot.the/colon", "\(two)", "ftp://example.org/", "\(folder)"])
        // Read and written again and again, it does not grow.
        #expect(GalleryList(text: list.text).text == list.text)
    }

    @Test func lineEndsOfOtherSystems() {
        #expect(GalleryList(text: "\(one)\r\n\(two)\r\n").addresses == [one, two])
    }

    @Test func passwordsAreNotWritten() throws {
        let list = GalleryList([try Address("http://me:secret@example.org/")])
        #expect(!list.text.contains("secret"))
    }
}
