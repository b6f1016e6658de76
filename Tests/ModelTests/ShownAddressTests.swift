import Model
import Testing

/// The forms of an address for screens and for requests.
@Suite struct ShownAddressTests {
    @Test("A host that resembles another is shown with its DNS name")
    func lookAlike() throws {
        let address = try Address("https://\u{430}pple.com/album/?page=1")
        #expect(address.text == "https://xn--pple-43d.com/album/?page=1")
        #expect("\(address)" == "https://xn--pple-43d.com (\u{430}pple.com)/album/?page=1")
        let origin = try #require(address.origin)
        #expect(origin.text == "https://xn--pple-43d.com" && origin.place == "xn--pple-43d.com (\u{430}pple.com)")
        #expect(Origin(origin.text) == origin)
    }

    @Test("A host in letters of one script is shown in them, and every spelling is the same host")
    func oneScript() throws {
        let addresses = try [
            "http://MÜNCHEN.example/a", "http://xn--mnchen-3ya.example/a", "http://münchen。example:80/a",
        ]
        .map { try Address($0) }
        for address in addresses {
            #expect(address == addresses[0] && address.text == addresses[1].text)
            #expect("\(address)" == "http://münchen.example/a")
        }
    }

    @Test(
        "A host with invalid characters is refused",
        arguments: [
            "http://a\u{2044}b.example/", "http://ﬁ.example/", "http://a\u{200B}.example/", "http://☃.example/",
        ])
    func refused(text: String) {
        #expect(throws: AddressError.self) { try Address(text) }
    }

    @Test(
        "A local address is shown as a path, if the typed path gives the same address",
        arguments: [
            ("file:///tmp/My%20S%C3%B6m", "/tmp/My Söm"), ("file:///tmp/100%25", "/tmp/100%"), ("file:///", "/"),
            ("file:///tmp/a%20", "file:///tmp/a%20"), ("file:///tmp/a%0Ab", "file:///tmp/a%0Ab"),
            ("file:///tmp/%FF", "file:///tmp/%FF"), ("http://example.org/a%20b", "http://example.org/a%20b"),
        ])
    func path(text: String, shown: String) throws {
        #expect(try Address(text).shownText == shown)
    }

    @Test("Secrets in a query are sent, but not shown, and not written to files that do not need them")
    func secrets() throws {
        let address = try Address("http://example.org/a.xml?page=2&access_token=s3cret&X-Amz-Signature=0123")
        #expect(address.text.hasSuffix("&access_token=s3cret&X-Amz-Signature=0123"))
        for text in ["\(address)", address.textWithoutSecrets] {
            #expect(text == "http://example.org/a.xml?page=2&access_token=…&X-Amz-Signature=…")
        }
        #expect(Address.withoutCredentials("“\(address.text)” is one too many") == "“\(address)” is one too many")
        #expect(Failure("\(address.text) cannot be had", remedy: .none).reason == "\(address) cannot be had")
    }

    @Test("Hidden secrets are restored in an edited address")
    func restored() throws {
        let address = try Address("http://example.org/a.xml?page=2&access_token=s3cret&key=k")
        let shown = try Address(address.textWithoutSecrets)
        #expect(shown.lacksSecrets && !address.lacksSecrets)
        #expect(shown.restoringSecrets(of: address).text == address.text)
        let edited = try Address("https://example.org/b.xml?key=…&access_token=other&sig=…")
        let restored = edited.restoringSecrets(of: address)
        #expect(restored.text == "https://example.org/b.xml?key=k&access_token=other&sig=%E2%80%A6")
        #expect(address.restoringSecrets(of: edited).text == address.text)
    }
}
