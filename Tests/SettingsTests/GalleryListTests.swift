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

    @Test("BEHAVIOURS 6.1: the list has no address twice")
    func noneTwice() throws {
        var list = GalleryList([one, two, one])
        #expect(list.addresses == [one, two])
        #expect(list.add(one) == 0)
        // The same address, spelled differently.
        #expect(list.add(try Address("HTTPS://EXAMPLE.org:443/x/../two.xml?a=b")) == 1)
        #expect(list.add(folder) == 2)
        #expect(list.addresses == [one, two, folder])
        #expect(GalleryList(text: "\(one)\n\(two)\n\(one)\n").addresses == [one, two])
    }

    @Test("The list remembers that the built-in galleries are removed, and merges that with other changes")
    func builtIn() {
        var list = GalleryList([one])
        #expect(!list.hidesBuiltIn)
        #expect(list.addresses(withBuiltIn: two) == [one, two] && list.addresses(withBuiltIn: one) == [one])
        list.hidesBuiltIn = true
        #expect(list.addresses(withBuiltIn: two) == [one] && list.addresses(withBuiltIn: nil) == [one])
        let read = GalleryList(text: list.text)
        #expect(read.hidesBuiltIn && read == list && read.addresses == [one])
        #expect(GalleryList.mistakes(in: list.text, path: "/galleries").isEmpty)
        // Another program has added a gallery meanwhile.
        let both = list.merging(GalleryList([one, two]), since: GalleryList([one]))
        #expect(both.hidesBuiltIn && both.addresses == [one, two])
        list.hidesBuiltIn = false
        #expect(list == GalleryList([one]))
        #expect(!list.merging(both, since: read).hidesBuiltIn)
    }

    @Test func removed() {
        var list = GalleryList([one, two, folder])
        list.remove(two)
        #expect(list.addresses == [one, folder])
        #expect(GalleryList(text: list.text).addresses == [one, folder])
    }

    @Test func invalidLinesAreKept() {
        let text = "# mine\n\(one)\n# mine\nhttp//forgot.the/colon\n\n  \(two)  \nftp://example.org/\n"
        var list = GalleryList(text: text)
        #expect(list.addresses == [one, two])
        list.remove(one)
        list.add(folder)
        let lines = list.text.split(separator: "\n").dropFirst()
        #expect(lines == ["# mine", "# mine", "http//forgot.the/colon", "\(two)", "ftp://example.org/", "\(folder)"])
        // Repeated reading and writing does not add lines.
        #expect(GalleryList(text: list.text).text == list.text)
    }

    @Test func otherLineEndings() {
        #expect(GalleryList(text: "\(one)\r\n\(two)\r\n").addresses == [one, two])
    }

    @Test("BEHAVIOURS 2.4: the update interval follows the address")
    func intervals() throws {
        let text = "\(one)\tevery 30m\n\(two)\tnever\n\(folder.text)\n"
        var list = GalleryList(text: text)
        #expect(list.addresses == [one, two, folder])
        #expect(list.interval(of: one)?.minutes == 30 && list.interval(of: two) == .never)
        #expect(list.interval(of: folder) == nil)
        #expect(list.text.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n" == text)
        list.setInterval(SyncInterval("2h"), of: folder)
        list.setInterval(nil, of: one)
        let other = try Address("http://example.org/other.xml")
        list.setInterval(SyncInterval(minutes: 5), of: other)
        list.setInterval(nil, of: try Address("http://example.org/none.xml"))
        #expect(
            list.text.split(separator: "\n").dropFirst()
                == ["\(one)", "\(two)\tnever", "\(folder.text)\tevery 2h", "\(other)\tevery 5m"])
        #expect(GalleryList(text: list.text) == list)
    }

    @Test("BEHAVIOURS 2.4: an invalid interval is reported and the gallery still counts")
    func wrongIntervals() throws {
        let text = "# mine\n\(one)\tevery fortnight\n\n\(two) every 8d\n\(folder.text)\tevery 1h\nftp//slip every 1h\n"
        let list = GalleryList(text: text)
        #expect(list.addresses == [one, two, folder])
        #expect(list.interval(of: one) == nil && list.interval(of: two) == nil)
        #expect(
            GalleryList.mistakes(in: text, path: "galleries").map(\.description) == [
                "galleries:2: Invalid value “every fortnight” for “every”: use a time like 30m, 2h or 1d (at most 7d), or never.",
                "galleries:4: Invalid value “every 8d” for “every”: use a time like 30m, 2h or 1d (at most 7d), or never.",
            ])
        // Saving keeps the user's text.
        #expect(list.text.contains("\(one)\tevery fortnight\n") && list.text.contains("\nftp//slip every 1h\n"))
    }

    @Test func spacesReplaceTabs() {
        let list = GalleryList(text: "\(one)   every 30m\n\(two) never\nhttp://example.org/a every b.xml\n")
        #expect(list.interval(of: one)?.minutes == 30 && list.interval(of: two) == .never)
    }

    @Test func olderHeadersAreReplaced() {
        let list = GalleryList(text: "# Galleries, one address in each line. Vitrine rewrites this file.\n\(one)\n")
        #expect(list.text.split(separator: "\n").count == 2 && list == GalleryList([one]))
    }

    @Test func passwordsAreNotWritten() throws {
        let list = GalleryList([try Address("http://me:secret@example.org/")])
        #expect(!list.text.contains("secret"))
    }

    @Test("BEHAVIOURS 6.1: the title follows the interval")
    func titles() throws {
        let text = "\(one)\tevery 30m\tThe lake\n\(two)\t\tGrandma’s  photos\n\(folder.text)\tnever\n"
        var list = GalleryList(text: text)
        #expect(list.title(of: one) == "The lake" && list.interval(of: one)?.minutes == 30)
        #expect(list.title(of: two) == "Grandma’s  photos" && list.interval(of: two) == nil)
        #expect(list.title(of: folder) == nil && list.interval(of: folder) == .never)
        #expect(GalleryList.mistakes(in: text, path: "galleries").isEmpty)
        #expect(list.text.hasSuffix("Vitrine rewrites this file.\n" + text))
        list.setTitle(" a\tb\u{1B}\n ", of: folder)
        list.setTitle("  ", of: one)
        list.setTitle("", of: two)
        #expect(list.text.hasSuffix("\n\(one)\tevery 30m\n\(two)\n\(folder.text)\tnever\ta b\n"))
        #expect(GalleryList(text: list.text) == list)
    }

    @Test func addressesCanBeReplaced() throws {
        var list = GalleryList(text: "# mine\n\(one)\tevery 30m\tThe lake\n# his\n\(two)\n")
        #expect(!list.replace(one, with: two) && list.replace(one, with: folder))
        list.exchange(folder, two)
        #expect(list.text.hasSuffix("\n# mine\n\(two)\n# his\n\(folder.text)\tevery 30m\tThe lake\n"))
    }

    private func list(_ names: String) -> GalleryList {
        GalleryList(names.map { Address(filePath: "/\($0)") })
    }

    @Test(
        "BEHAVIOURS 4.4, 6.1: what two programs have made of the list is both in it",
        arguments: [
            // before, mine, theirs, both
            ("ab", "abc", "ab", "abc"), ("ab", "ab", "abd", "abd"), ("ab", "abc", "abd", "abdc"),
            ("ab", "b", "abd", "bd"), ("ab", "abc", "a", "ac"), ("abc", "cba", "abc", "cba"),
            ("abc", "cba", "abcd", "cbad"),
            ("abc", "ab", "bc", "b"), ("abc", "acb", "bcd", "cbd"), ("ab", "abc", "abc", "abc"), ("", "a", "b", "ba"),
        ])
    func merged(before: String, mine: String, theirs: String, both: String) {
        #expect(list(mine).merging(list(theirs), since: list(before)) == list(both))
    }

    @Test func intervalsAndTitlesAreMerged() throws {
        let before = GalleryList(text: "\(one)\n\(two)\n")
        let theirs = GalleryList(text: "# theirs\n\(one)\tevery 1h\n\(two)\tnever\n")
        var mine = before
        mine.setTitle("Mine", of: two)
        #expect(
            mine.merging(theirs, since: before).text.hasSuffix("\n# theirs\n\(one)\tevery 1h\n\(two)\t\tMine\n"))
    }
}
