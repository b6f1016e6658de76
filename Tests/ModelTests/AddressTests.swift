import Testing

@testable import Model

@Suite struct AddressTests {
    @Test(arguments: [
        ("http://example.org/a/b.xml", "http://example.org/a/b.xml"),
        ("HTTP://EXAMPLE.org:80", "http://example.org/"),
        ("https://example.org:443/x?y=1&z", "https://example.org/x?y=1&z"),
        ("https://example.org:8443/x#part", "https://example.org:8443/x"),
        ("http://user:secret@example.org/x", "http://example.org/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://example.org/a b/ü.xml", "http://example.org/a%20b/%C3%BC.xml"),
        ("http://example.org/a%20b/100%", "http://example.org/a%20b/100%25"),
        ("http://example.org/a/./b/../../c", "http://example.org/c"),
        ("http://example.org/../../c", "http://example.org/c"),
        ("http://example.org/%2e%2E/c", "http://example.org/c"),
        ("file:///tmp/a b/index.xml", "file:///tmp/a%20b/index.xml"),
        ("file://localhost/tmp/x", "file:///tmp/x"),
        ("file:///tmp/x/", "file:///tmp/x"),
    ])
    func normalises(text: String, expected: String) throws {
        let address = try Address(text)
        #expect(address.text == expected)
        #expect(try Address(address.text) == address)
    }

    @Test(arguments: [
        ("", AddressError.empty), ("index.xml", .relative("index.xml")), ("//host/x", .relative("//host/x")),
        ("ftp://example.org/x", .scheme("ftp")), ("javascript:alert(1)", .scheme("javascript")),
        ("gopher://x/", .scheme("gopher")), ("http://", .noHost), ("http:///x", .noHost),
        ("http://example.org:0/", .port("0")), ("http://example.org:99999/", .port("99999")),
        ("http://example.org:8o/", .port("8o")), ("http://exa mple.org/", .host("exa mple.org")),
        ("http://example.org/\r\nHost: evil", .controlCharacter), ("http://a\u{0}b/", .controlCharacter),
        ("http://example.org\\@evil/", .host("example.org\\@evil")),
        ("file://server/share", .host("server")),
        ("http://x/" + String(repeating: "a", count: 1_000_000), .tooLong),
        // In normal form, each of these characters has nine bytes.
        ("http://x/" + String(repeating: "漢", count: 1_000), .tooLong),
        ("file:///" + String(repeating: "漢", count: 1_000), .tooLong),
    ])
    func refuses(text: String, expected: AddressError) {
        #expect(throws: expected) { try Address(text) }
    }

    /// The examples of RFC 3986, section 5.4, with a supported scheme.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), (";x", "http://a/b/c/;x"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("https://o/x", "https://o/x"),
        ("images/a photo.jpg", "http://a/b/c/images/a%20photo.jpg"),
    ])
    func resolves(reference: String, expected: String) throws {
        #expect(try Address("http://a/b/c/d;p?q").resolving(reference).text == expected)
    }

    @Test("A reference that makes an address too long is refused, whatever its form")
    func longReferences() throws {
        let part = String(repeating: "a", count: 5_000)
        let base = try Address("http://x/\(part)/index.xml")
        for reference in [
            part, "./\(part)", "?\(part)\(part)", "/\(part)/\(part)", String(repeating: "ü", count: 2_000),
        ] {
            #expect(throws: AddressError.tooLong) { try base.resolving(reference) }
        }
        var entry = EntryBytes()
        let isAppended = Array(part.utf8).withUnsafeBytes { PlainReference(base: base).append($0, to: &entry) }
        #expect(!isAppended && entry.bytes.isEmpty)
    }

    /// The fast path for simple references gives the same result as the general one.
    @Test func simpleReferencesAreResolvedEqually() throws {
        let pieces = [
            "a", "B9", "-", "_", ".", "/", "x.jpg", "..", "images/", "(:)", "%41", "%2F", "%2e", "%2E", "%2", "%",
        ]
        var state: UInt64 = 7
        for base in ["http://a/b/c/d;p?q", "https://me:pw@o:8080", "file:///a/b%20c/index.xml"] {
            let base = try Address(base)
            for _ in 0..<10_000 {
                var reference = ""
                for _ in 0..<Int(state >> 60) % 5 + 1 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    reference += pieces[Int(state >> 33) % pieces.count]
                }
                // A reference with a fragment is not simple.
                let (short, long) = (try? base.resolving(reference), try? base.resolving(reference + "#x"))
                #expect(short == long && short?.text == long?.text, "\(base) + \(reference)")
            }
        }
    }

    @Test func passwordsAppearInNoText() throws {
        let address = try Address("https://me:s%40cret@example.org/x")
        #expect(address.credentials == Address.Credentials(user: "me", password: "s@cret"))
        #expect(!"\(address)".contains("cret") && !address.text.contains("me"))
        #expect(try address == Address("https://example.org/x"))
        #expect(try GalleryID(address) == GalleryID(Address("https://example.org/x")))
        #expect(try address.resolving("y").credentials != nil)
        #expect(try address.resolving("https://example.org/y").credentials == nil)
        #expect(try address.resolving("//other/y").credentials == nil)
        // Nor in the text of an error.
        #expect(throws: AddressError.host("exam\\ple.org")) { try Address("https://me:s%40cret@exam\\ple.org/x") }
    }

    @Test("A user in an address is a sign-in only with a colon and a password, which may be empty")
    func userAlone() throws {
        let address = try Address("http://anna@example.org:8080/x")
        #expect(address.credentials == nil && address.text == "http://example.org:8080/x")
        #expect(try Address("http://anna:@example.org/").credentials == .init(user: "anna", password: ""))
    }

    @Test func originsAreSchemeHostAndPort() throws {
        let address = try Address("https://example.org/x")
        #expect(address.origin == (try Address("https://EXAMPLE.org:443/y?z").origin))
        for other in ["http://example.org/x", "https://example.org:8443/x", "https://www.example.org/x"] {
            #expect(address.origin != (try Address(other).origin))
        }
    }

    @Test func onlyAGallerysOwnFilesMayBeNamed() throws {
        let network = try Address("http://example.org/index.xml")
        let local = try Address("file:///home/me/album/index.xml")
        #expect(try network.mayName(Address("https://other.org/x.jpg")))
        #expect(try !network.mayName(Address("file:///etc/passwd")))
        #expect(try local.mayName(local.resolving("images/x.jpg")))
        #expect(try !local.mayName(local.resolving("../secret.jpg")))
        #expect(try !local.mayName(local.resolving("/etc/passwd")))
        #expect(try !local.mayName(local.resolving("%2e%2e/secret.jpg")))
        #expect(try !local.mayName(local.resolving("..%2Fsecret.jpg")))
        #expect(try !local.mayName(local.resolving("images%2F..%2f..%2Fsecret.jpg")))
        #expect(try local.mayName(Address("http://example.org/x.jpg")))
    }

    @Test(
        "BEHAVIOURS 6.1: typed text is trimmed and completed",
        arguments: [
            ("  http://example.org/x ", "http://example.org/x"),
            ("example.org/x", "http://example.org/x"),
            ("localhost:8080/index.xml", "http://localhost:8080/index.xml"),
            ("/tmp/album", "file:///tmp/album"), ("./album", "file:///here/album"),
            ("~/album", "file:///home/me/album"),
            ("../album", "file:///album"), (".", "file:///here"), ("file:///x", "file:///x"),
            ("/tmp/100% new", "file:///tmp/100%25%20new"),
        ])
    func typed(text: String, expected: String) throws {
        #expect(try Address(typed: text, home: "/home/me", currentFolder: "/here").text == expected)
    }

    @Test(
        "BEHAVIOURS 6.1: invalid input is refused with its reason",
        arguments: [
            ("  ", AddressError.empty), ("ftp://example.org", .scheme("ftp")),
            ("mailto:me@example.org", .scheme("mailto")),
            ("http://", .noHost), ("a b", .host("a b")), ("/" + String(repeating: "漢", count: 1_000), .tooLong),
        ])
    func typedAndRefused(text: String, expected: AddressError) {
        #expect(throws: expected) { try Address(typed: text, home: "/", currentFolder: "/") }
        #expect(!expected.description.isEmpty)
    }

    @Test func filePathsAreDecoded() throws {
        #expect(try Address("file:///tmp/a%20b").filePath == "/tmp/a b")
        #expect(try Address("http://x/tmp").filePath == nil)
        #expect(Address(filePath: "/tmp/a?b#c").text == "file:///tmp/a%3Fb%23c")
        #expect(Address(filePath: "/tmp/a").appending("index.xml").filePath == "/tmp/a/index.xml")
    }
}
