import Testing

@testable import Model

@Suite struct SignInTests {
    @Test(arguments: [
        ("HTTP://Example.org:80/a?b", "http://example.org"), ("https://example.org:8443/", "https://example.org:8443"),
        ("https://me:s3cret@[::1]:443/x", "https://[::1]"), ("http://example.org:443/", "http://example.org:443"),
    ]) func anOriginIsSchemeHostAndPort(address: String, origin: String) throws {
        #expect(try Address(address).origin?.text == origin)
        #expect(Origin(origin)?.text == origin)
    }

    @Test func differentOriginsAreDifferent() throws {
        let addresses = [
            "http://example.org/", "https://example.org/", "http://example.org:8080/", "http://www.example.org/",
        ]
        #expect(Set(try addresses.map { try Address($0).origin }).count == addresses.count)
        #expect(Address(filePath: "/photos").origin == nil)
    }

    @Test(arguments: [
        "", "example.org", "file:///x", "http://example.org/", "http://example.org/x", "http://EXAMPLE.org",
    ])
    func otherTextsAreNotOrigins(text: String) {
        #expect(Origin(text) == nil)
    }

    @Test("BEHAVIOURS 5.10: printing a password reveals nothing")
    func nothingIsPrinted() throws {
        let address = try Address("http://me:s3cret@example.org/")
        let signIn = SignIn(try #require(address.credentials))
        var dumped = ""
        dump(address, to: &dumped)
        dump(signIn, to: &dumped)
        dump([SignIn.token("s3cret"): signIn], to: &dumped)
        let texts = [
            dumped, "\(signIn)", String(reflecting: signIn), "\(address)", String(reflecting: address),
            String(reflecting: [address.credentials]), "\(SignIn.token("s3cret"))", "\([signIn] as Set)",
        ]
        #expect(texts.allSatisfy { !$0.contains("s3cret") })
        #expect(signIn == .password(user: "me", password: "s3cret"))
    }

    @Test(
        "BEHAVIOURS 5.10: messages about a typed address contain no password",
        arguments: [
            ("http://me:s3cret@a.org/x", "http://a.org/x"), ("“https://me@a.org” is", "“https://a.org” is"),
            ("http://a:b@c:d@e/f ftp://g@h?i@j", "http://e/f ftp://h?i@j"), ("http://a.org/@me", "http://a.org/@me"),
            ("me@a.org: http://", "me@a.org: http://"), ("http://a b@c", "http://a b@c"), ("://@", "://"),
        ])
    func withoutCredentials(text: String, said: String) {
        #expect(Address.withoutCredentials(text) == said)
    }

    @Test func questionsDescribeTheirAnswer() throws {
        let (http, https) = (try #require(Origin("http://a.org")), try #require(Origin("https://a.org")))
        let basic = SignInQuestion(origin: http, schemes: ["basic"])
        #expect(basic.canBeAnswered && !basic.wantsToken && basic.isReadableOnTheWay)
        #expect(!SignInQuestion(origin: http, schemes: ["basic", "digest"]).isReadableOnTheWay)
        #expect(!SignInQuestion(origin: https, schemes: ["basic"]).isReadableOnTheWay)
        // The connection behind the proxy is encrypted, but the proxy gets the answer in clear text.
        let (open, closed) = ("http://proxy.org:3128", "https://proxy.org:3128")
        #expect(SignInQuestion(origin: https, proxy: open, schemes: ["basic"]).isReadableOnTheWay)
        #expect(!SignInQuestion(origin: http, proxy: closed, schemes: ["basic"]).isReadableOnTheWay)
        let bearer = SignInQuestion(origin: https, schemes: ["bearer"])
        #expect(bearer.canBeAnswered && bearer.wantsToken)
        #expect(!SignInQuestion(origin: https, schemes: ["bearer", "basic"]).wantsToken)
        #expect(!SignInQuestion(origin: https, schemes: ["ntlm", "negotiate"]).canBeAnswered)
        #expect(!SignInQuestion(origin: https, schemes: []).canBeAnswered)
        let keyed = SignInQuestion(origin: https, keyHeader: "x-api-key", schemes: [])
        #expect(keyed.canBeAnswered && keyed.wantsToken && keyed.secretName == "API key")
        #expect(keyed.signIn(token: "k3y") == .header(name: "x-api-key", value: "k3y"))
        #expect(bearer.signIn(token: "t0ken") == .token("t0ken"))
        #expect([basic, bearer].map(\.secretName) == ["password", "token"])
        var named = bearer
        named.tokenName = "app password"
        #expect(named.wantsToken && named.secretName == "app password" && named.signIn(token: "t") == .token("t"))
        let proxy = SignInQuestion(origin: https, proxy: open, schemes: ["bearer"])
        #expect(proxy.isProxy && proxy.place == .proxy(open) && !proxy.canBeAnswered)
        #expect(!basic.isProxy && basic.place == .origin(http))
    }

    @Test(
        "A configured proxy is recognised by scheme, host and port",
        arguments: [
            ("http://proxy.example:3128", "http://proxy.example:3128", true),
            ("me:p@ss@Proxy.example:3128/", "http://proxy.example:3128", true),
            ("socks5h://[::1]:1080", "socks5h://[::1]:1080", true), ("proxy.example", "http://proxy.example", true),
            ("socks://p:1080/", "socks5://p:1080", true), ("socks://p:1080", "socks4://p:1080", false),
            ("http://proxy.example:3128", "http://proxy.example:8080", false),
            ("http://proxy.example:3128", "https://proxy.example:3128", false),
            ("http://a/#@evil.example", "http://evil.example", false), ("http://a", "http://a\tb", false),
        ])
    func proxies(value: String, name: String, isKnown: Bool) {
        #expect(ConfiguredProxies([value]).contains(name) == isKnown)
    }

    @Test(
        "Proxies have a local name if a host ends in .local",
        arguments: [
            (["me:p@ss@NAS.local:3128"], true), (["http://a.org", "socks5h://nas.local"], true), ([], false),
            (["http://me.local:p@a.org/x.local"], false), (["nas.locals"], false),
        ] as [([String], Bool)])
    func localProxies(values: [String], areLocal: Bool) {
        #expect(ConfiguredProxies(values).haveLocalName == areLocal)
    }
}
