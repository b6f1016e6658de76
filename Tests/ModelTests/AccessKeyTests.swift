import Testing

@testable import Model

@Suite struct AccessKeyTests {
    @Test("Printing a key reveals no part of it") func secrecy() {
        let key = AccessKey(id: "AKID", secret: "s3cret", sessionToken: "t0ken", region: "eu-west-1")
        var dumped = ""
        dump(SignIn.accessKey(key), to: &dumped)
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\(SignIn.accessKey(key))", dumped] {
            for secret in ["AKID", "s3cret", "t0ken"] { #expect(!text.contains(secret)) }
        }
    }

    @Test(
        "A wrong region becomes the usual region",
        arguments: ["", "eu:west", "eu west", "a/b", String(repeating: "x", count: 64)])
    func regions(text: String) {
        #expect(AccessKey(id: "", secret: "", region: text).region == "us-east-1")
        #expect(AccessKey(id: "", secret: "", region: "eu-west-1").with(region: text).region == "us-east-1")
        #expect(BucketService(region: text).text("s3://b/") == "https://b.s3.us-east-1.amazonaws.com/")
    }

    @Test("Without an endpoint, s3:// means Amazon's service") func amazon() {
        let service = BucketService(region: "eu-west-1")
        for (typed, address) in [
            ("s3://photos", "https://photos.s3.eu-west-1.amazonaws.com/"),
            ("S3://photos/2024/May 1", "https://photos.s3.eu-west-1.amazonaws.com/2024/May%201"),
            ("s3://photos/a+b?c#d%41/", "https://photos.s3.eu-west-1.amazonaws.com/a%2Bb%3Fc%23d%2541/"),
            // The certificate does not cover these.
            ("s3://my.photos/a", "https://s3.eu-west-1.amazonaws.com/my.photos/a"),
            ("s3://My_Photos/a", "https://s3.eu-west-1.amazonaws.com/My_Photos/a"),
        ] { #expect(service.text(typed) == address) }
        #expect(throws: AddressError.noHost) { try service.address("s3:///a") }
        #expect(throws: AddressError.noHost) { try service.address("s3://") }
    }

    @Test("Amazon's regions in China have hosts of their own") func china() throws {
        let address = try BucketService(region: "cn-north-1").address("s3://b/")
        #expect(address.text == "https://b.s3.cn-north-1.amazonaws.com.cn/")
        #expect(AmazonHost(address.host)?.region == "cn-north-1")
    }

    @Test("With an endpoint, s3:// means its buckets") func endpoint() throws {
        let service = BucketService(endpoint: .server(try Address("http://localhost:8333")))
        #expect(service.text("s3://photos/a b/") == "http://localhost:8333/photos/a%20b/")
        let nested = BucketService(endpoint: .server(try Address("https://nas.local/s3")))
        #expect(nested.text("s3://photos") == "https://nas.local/s3/photos/")
        #expect(
            try Address(typed: " s3://photos ", home: "/", currentFolder: "/", buckets: service).text
                == "http://localhost:8333/photos/")
    }

    @Test("Only a typed s3:// address needs the storage service") func neededService() throws {
        var uses = 0
        func service() -> BucketService {
            uses += 1
            return BucketService()
        }
        for typed in ["/photos", "example.org/a.xml", "s3.example.org"] {
            _ = try Address(typed: typed, home: "/", currentFolder: "/", buckets: service())
        }
        #expect(uses == 0)
        _ = try Address(typed: "s3://photos", home: "/", currentFolder: "/", buckets: service())
        #expect(uses == 1)
    }

    @Test("Amazon's hosts are known, and no others") func hosts() throws {
        for (host, region) in [
            ("s3.amazonaws.com", nil), ("photos.s3.amazonaws.com", nil), ("s3.eu-west-1.amazonaws.com", "eu-west-1"),
            ("my.photos.s3.eu-west-1.amazonaws.com", "eu-west-1"), ("photos.s3-eu-west-1.amazonaws.com", "eu-west-1"),
            ("photos.s3.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ] as [(String, String?)] { #expect(try #require(AmazonHost(host)).region == region, "\(host)") }
        for host in [
            "amazonaws.com", "s3.amazonaws.com.evil.org", "photos.s3.evil.org", "xs3.amazonaws.com",
            "s3.a.b.amazonaws.com",
        ] {
            #expect(AmazonHost(host) == nil, "\(host)")
        }
    }

    @Test("A bucket's hosts in two regions are twins, and those of two buckets are not") func twins() throws {
        func areTwins(_ left: String, _ right: String) throws -> Bool {
            try #require(try Address(left).origin).isTwin(of: try #require(try Address(right).origin))
        }
        let home = "https://photos.s3.eu-west-1.amazonaws.com/"
        #expect(try areTwins(home, "https://photos.s3.us-west-2.amazonaws.com/"))
        #expect(try areTwins(home, "https://photos.s3.amazonaws.com/"))
        for other in [
            "https://others.s3.us-west-2.amazonaws.com/", "http://photos.s3.us-west-2.amazonaws.com/",
            "https://photos.s3.us-west-2.amazonaws.com:444/", "https://s3.us-west-2.amazonaws.com/",
            "https://photos.s3.cn-north-1.amazonaws.com.cn/", "https://example.org/",
        ] { #expect(try !areTwins(home, other), "\(other)") }
        #expect(try !areTwins("https://example.org/", "https://example.org/"))
        let moved = try Address(home + "a%20b?c").moved(toRegion: "us-west-2")
        #expect(moved?.text == "https://photos.s3.us-west-2.amazonaws.com/a%20b?c")
        #expect(try Address("https://example.org/").moved(toRegion: "us-west-2") == nil)
        #expect(try Address(home).moved(toRegion: "evil.org/") == nil)
    }

    @Test("Every byte but letters, digits and -._~ is encoded") func encoding() {
        #expect(PercentEncoding.encodeAll(Array("aZ0-._~ /+%ü".utf8), except: "") == "aZ0-._~%20%2F%2B%25%C3%BC")
        #expect(PercentEncoding.encodeAll([0xFF, 0x2F, 0], except: "/") == "%FF/%00")
    }

    @Test("The user's answer to a question for an access key becomes an access key") func question() throws {
        let origin = try #require(try Address("http://localhost/").origin)
        var question = SignInQuestion(origin: origin, schemes: [SignInQuestion.signatureScheme])
        question.region = "garage"
        #expect(question.wantsAccessKey && question.canBeAnswered && !question.wantsToken)
        #expect(!question.isReadableOnTheWay)
        #expect(
            question.signIn(name: "a", secret: "b") == .accessKey(AccessKey(id: "a", secret: "b", region: "garage")))
        let other = SignInQuestion(origin: origin, schemes: ["basic"])
        #expect(other.signIn(name: "a", secret: "b") == .password(user: "a", password: "b"))
    }
}

extension BucketService {
    /// The text of the address for a typed text; empty if there is none.
    fileprivate func text(_ typed: String) -> String { (try? address(typed))?.text ?? "" }
}
