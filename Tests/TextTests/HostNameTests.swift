import Testing

@testable import Text

@Suite struct HostNameTests {
    @Test(
        "Labels are encoded and decoded according to RFC 3492",
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
        "A label that only looks encoded is not decoded",
        arguments: [
            "ü", "a_", "99999999", "-", "a-\u{7F}", String(repeating: "a", count: 64), "tda9",
        ])
    func noPunycode(text: String) {
        // Some decode to text, but nothing traps and encoding does not return the same text.
        let decoded = Punycode.decode(text)
        #expect(decoded.flatMap { Punycode.encode($0.unicodeScalars) } != text)
    }

    @Test(
        "Every spelling of a host has the same ASCII form",
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
        "A name with forbidden letters is invalid",
        arguments: [
            "a\u{2044}b.example", "ﬁ.example", "ⓐ.example", "𝐚.example", "a\u{200B}b.example", "a\u{202E}.example",
            "☃.example", "\u{301}a.example",
        ])
    func refused(host: String) {
        #expect(HostName.ascii(host) == nil)
    }

    @Test(
        "An unambiguous name is shown in its own script",
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
        "A misleading name is shown after its ASCII form",
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
        "An invalid host name is shown unchanged",
        arguments: ["xn--\u{7F}", "xn--99999999.com", "xn--ab-.com", "a b", "", "xn--"])
    func noNames(text: String) {
        #expect(HostName.shown(text) == text)
    }
}
