import Testing

@testable import Formats

/// The answers of a Nextcloud server.
@Suite struct NextcloudAnswerTests {
    private func flow(_ json: String) -> LoginFlow? { LoginFlow(json: Array(json.utf8)) }
    private func grant(_ json: String) -> LoginGrant? { LoginGrant(json: Array(json.utf8)) }

    @Test("The first answer names a page and the address for the result, in PHP’s form of JSON")
    func first() {
        let flow = flow(
            #"{"poll":{"token":"t0k","endpoint":"https:\/\/c.org\/login\/v2\/poll"},"login":"https:\/\/c.org\/f\/1"}"#)
        #expect(flow?.token == "t0k" && flow?.endpoint == "https://c.org/login/v2/poll")
        #expect(flow?.login == "https://c.org/f/1")
    }

    @Test("The last answer has the server, the user and the password, among other members")
    func last() {
        let grant = grant(
            #"{"x":[{"server":"no"},"no"],"server":"https:\/\/c.org","loginName":"zoë","appPassword":"p","y":{"server":"no"}}"#
        )
        #expect(grant?.server == "https://c.org" && grant?.loginName == "zoë" && grant?.appPassword == "p")
    }

    @Test(
        "Other answers are refused",
        arguments: [
            "", "[]", "{}", "<html>", "null",
            #"{"poll":{"token":"t","endpoint":"e"},"login":"l""#,
            #"{"poll":{"token":"t","endpoint":"e"}}"#,
            #"{"poll":{"token":"t","endpoint":"e"},"login":7}"#,
            #"{"poll":{"token":"","endpoint":"e"},"login":"l"}"#,
            #"{"poll":{"token":"t","endpoint":"e"},"login":"l\n"}"#,
            #"{"poll":[{"token":"t","endpoint":"e"}],"login":"l"}"#,
            #"{"poll":[{"token":1,"endpoint":1},"t"],"login":"l"}"#,
            #"[{"poll":{"token":"t","endpoint":"e"},"login":"l"}]"#,
            #"{"poll.token":"t","poll.endpoint":"e","login":"l"}"#,
            #"{"poll":{"token":"t","endpoint":"e"},"login":""# + String(repeating: "l", count: 2_049) + #""}"#,
        ])
    func refused(json: String) {
        #expect(flow(json) == nil)
    }

    @Test("A long string in another member does no harm")
    func longOther() {
        let other = String(repeating: "x", count: 10_000)
        #expect(flow(#"{"o":"\#(other)","poll":{"token":"t","endpoint":"e"},"login":"l"}"#)?.token == "t")
    }

    @Test("The answer about the user has the user’s id")
    func account() {
        func id(_ json: String) -> String? { AccountAnswer(json: Array(json.utf8))?.id }
        #expect(id(#"{"ocs":{"meta":{"id":"no"},"data":{"quota":{"id":"no"},"id":"zoë"}}}"#) == "zoë")
        #expect(id(#"{"ocs":{"data":{"id":""}}}"#) == nil && id(#"{"ocs":{"data":[{"id":"x"}]}}"#) == nil)
        #expect(id(#"{"id":"x"}"#) == nil && id("") == nil)
    }

    @Test(
        "The number before the name of an album’s photo is hidden",
        arguments: [
            ("7-a.jpg", "a.jpg"), ("7-8-a.jpg", "8-a.jpg"), ("a.jpg", nil), ("-a.jpg", nil), ("7a.jpg", nil),
            ("7-.txt", nil), ("7-", nil),
        ])
    func albumNumber(name: String, shown: String?) {
        var file = ListedFile(name: Array(name.utf8))
        file.hideAlbumNumber()
        #expect(file.shownName == shown.map { Array($0.utf8) })
    }
}
