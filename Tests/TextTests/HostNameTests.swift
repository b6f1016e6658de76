import Testing

@testable import Text

@Suite struct HostNameTests {
    @Test(
        "A label is encoded as RFC 3492 says, and decoded again",
        arguments: [
            ("münchen", "mnchen-3ya"), ("bücher", "bcher-kva"), ("ü", "tda"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("аpple", "pple-43d"), ("ab", "ab-"), ("", ""),
        ])
    func punycode(label: String, encoded: String) {
        #expect(Punycode.encode(label.unicodeScalars) == encoded)
        #expect(Punycode.decode(encoded) == label)
    }

    @Test(
        "A label that only looks encoded is shown as it is",
        arguments: [
            "ü", "a_", "99999999", "-", "a-\u{7F}", String(repeating: "a", count: 64), "tda9",
        ])
    func noPunycode(text: String) {
        // Some decode to something; but nothing traps, and the same text does not come back.
        let decoded = Punycode.decode(text)
        #expect(decoded.flatMap { Punycode.encode($0.unicodeScalars) } != text)
    }

    @Test(
        "A host has one form in ASCII, however it is written",
        arguments: [
            ("Example.ORG", "example.org"), ("MÜNCHEN.example", "xn--mnchen-3ya.example"),
            ("mu\u{308}nchen.example", "xn--mnchen-3ya.example"), ("ｅｘａｍｐｌｅ。org", "example.org"),
            ("１２７.0.0.1", "127.0.0.1"), ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
            ("straße.example", "xn--strae-oqa.example"), ("[::1]", "[::1]"), ("a_b.example", "a_b.example"),
        ])
    func ascii(host: String, expected: String) {
        #expect(HostName.ascii(host) == expected)
    }

    @Test(
        "A name with letters that no name has is none",
        arguments: [
            "a\u{2044}b.example", "ﬁ.example", "ⓐ.example", "𝐚.example", "a\u{200B}b.example", "a\u{202E}.example",
            "☃.example", "\u{301}a.example",
        ])
    func refused(host: String) {
        #expect(HostName.ascii(host) == nil)
    }

    @Test(
        "A name that passes for no other is shown in its own letters",
        arguments: [
            "example.org", "münchen.example", "việtnam.example", "пример.example", "правда.рф", "ελλάδα.example",
            "日本語.example",
            "かなカナ漢字abc.example", "한국어abc.example", "中文ㄅㄆ.example", "ישראל.example", "مثال.example", "ไทย.example",
            "сосо.рф", "münchen.example:8080", "127.0.0.1:80", "[::1]:80",
        ])
    func shownAsItIs(place: String) throws {
        #expect(HostName.shown(place) == place)
        let end = place.firstIndex(of: ":") ?? place.endIndex
        if !place.hasPrefix("[") {
            #expect(HostName.shown(try #require(HostName.ascii(String(place[..<end]))) + place[end...]) == place)
        }
    }

    @Test(
        "A name that may pass for another is shown with what is asked for before it",
        arguments: [
            ("аpple.com", "xn--pple-43d.com (аpple.com)"), ("аррӏе.com", "xn--80ak6aa92e.com (аррӏе.com)"),
            ("gοοgle.com:8080", "xn--ggle-0nda.com (gοοgle.com):8080"),
            ("paypaı.com", "xn--paypa-r4a.com (paypaı.com)"),
            ("http://xn--pple-43d.com:81", "http://xn--pple-43d.com (аpple.com):81"),
            ("a一b.com", "xn--ab-vu2c.com (a一b.com)"),
            ("日本ไทย.com", "xn--o3cw4hp291bzlb.com (日本ไทย.com)"),
        ])
    func shownTwice(place: String, expected: String) {
        #expect(HostName.shown(place) == expected)
        #expect(HostName.shown(expected) == expected)
    }

    @Test(
        "Text that is no host name is shown as it is",
        arguments: ["xn--\u{7F}", "xn--99999999.com", "xn--ab-.com", "a b", "", "xn--"])
    func noNames(text: String) {
        #expect(HostName.shown(text) == text)
    }
}
