import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct AccessKeyFilesTests {
    private let folder = TestFolder()

    private func files(_ variables: [String: String] = [:]) -> AccessKeyFiles {
        AccessKeyFiles(home: folder.path) { variables[$0] }
    }

    private func write() {
        folder.write(
            ".aws/credentials",
            """
            # my keys
            [default]
            aws_access_key_id = DEFAULT
            aws_secret_access_key=ab/+=  \r
            [ work ]
            aws_access_key_id=WORK
            aws_secret_access_key=work secret
            aws_session_token = t0ken
            [half]
            aws_access_key_id = HALF
            """)
        folder.write(
            ".aws/config",
            """
            [default]
            region = eu-west-1
            s3 =
                endpoint_url = http://nested/
            [profile work]
            region = eu-central-1
            endpoint_url = http://localhost:9000
            [profile half]
            aws_access_key_id = CONFIG
            aws_secret_access_key = c
            """)
    }

    @Test("Without files and variables there is no key, and the service is Amazon's") func none() {
        #expect(files().keys().isEmpty && files().service() == BucketService())
    }

    @Test("The default profile has a key and a region") func usual() {
        write()
        #expect(files().keys() == [AccessKey(id: "DEFAULT", secret: "ab/+=", region: "eu-west-1")])
        #expect(files().service() == BucketService(region: "eu-west-1"))
    }

    @Test("Only the service that s3:// means gets the keys") func owner() throws {
        write()
        func count(_ origin: String, _ variables: [String: String] = [:]) throws -> Int {
            files(variables).keys(for: try #require(Origin(origin))).count
        }
        #expect(try count("https://photos.s3.eu-west-1.amazonaws.com") == 1)
        for other in ["http://photos.s3.eu-west-1.amazonaws.com", "https://evil.example", "http://localhost:9000"] {
            #expect(try count(other) == 0, "\(other)")
        }
        let work = ["AWS_PROFILE": "work"]
        #expect(try count("http://localhost:9000", work) == 1)
        for other in ["https://photos.s3.eu-west-1.amazonaws.com", "http://localhost:9001", "https://localhost:9000"] {
            #expect(try count(other, work) == 0, "\(other)")
        }
    }

    @Test("With an endpoint that is not a web address, no service gets the keys, and the user learns the reason")
    func invalidEndpoint() throws {
        write()
        let amazon = try #require(Origin("https://photos.s3.eu-west-1.amazonaws.com"))
        for text in ["nas.local:9000", "localhost", "file:///srv"] {
            let files = files(["AWS_ENDPOINT_URL": text])
            #expect(files.keys(for: amazon).isEmpty)
            #expect(throws: AddressError.endpoint(text, source: "AWS_ENDPOINT_URL")) {
                try files.service().address("s3://photos")
            }
        }
        let config = folder.path("endpoint")
        folder.write("endpoint", "[default]\nendpoint_url = nas.local:9000\n")
        let service = files(["AWS_CONFIG_FILE": config]).service()
        #expect(throws: AddressError.endpoint("nas.local:9000", source: config)) { try service.address("s3://photos") }
    }

    @Test("Another profile may be chosen") func profile() throws {
        write()
        let work = files(["AWS_PROFILE": "work"])
        #expect(
            work.keys() == [
                AccessKey(id: "WORK", secret: "work secret", sessionToken: "t0ken", region: "eu-central-1")
            ])
        #expect(
            work.service()
                == BucketService(endpoint: .server(try Address("http://localhost:9000")), region: "eu-central-1"))
        #expect(files(["AWS_PROFILE": "half"]).keys().map(\.id) == ["CONFIG"])
        #expect(files(["AWS_PROFILE": "absent"]).keys().isEmpty)
    }

    @Test("The environment's key comes first, and its values win") func environment() throws {
        write()
        var variables = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "e"]
        #expect(files(variables).keys().map(\.id) == ["ENV", "DEFAULT"])
        #expect(files(variables).keys().map(\.region) == ["eu-west-1", "eu-west-1"])
        variables["AWS_REGION"] = "garage"
        variables["AWS_SESSION_TOKEN"] = "t"
        variables["AWS_ENDPOINT_URL"] = "http://all/"
        #expect(
            files(variables).keys().first == AccessKey(id: "ENV", secret: "e", sessionToken: "t", region: "garage"))
        #expect(
            files(variables).service()
                == BucketService(endpoint: .server(try Address("http://all/")), region: "garage"))
        variables["AWS_ENDPOINT_URL_S3"] = "http://s3/"
        #expect(files(variables).service().endpoint == .server(try Address("http://s3/")))
        #expect(files(["AWS_ACCESS_KEY_ID": "ENV"]).keys().map(\.id) == ["DEFAULT"])
    }

    @Test("The files may be elsewhere") func elsewhere() {
        write()
        let variables = [
            "AWS_SHARED_CREDENTIALS_FILE": folder.path(".aws/config"), "AWS_CONFIG_FILE": folder.path("none"),
        ]
        #expect(files(variables).keys().isEmpty)
    }
}
