import TestSupport

/// Where nobody is led, by whichever kind of redirect.
extension Fault {
    static let redirects = [302, 301, 303, 307, 308].flatMap { status in
        // What is done about it is the same for all things, and shown once.
        refusals(by: status).map { status == 302 ? $0 : $0.only(.thumbnail) }
    }

    private static func refusals(by status: Int) -> [Fault] {
        let unfollowed = "a redirect leads to an address that is not followed"
        return [
            ("to a file", "file:///etc/passwd"), ("to ftp", "ftp://127.0.0.1/"), ("to gopher", "gopher://127.0.0.1/"),
            ("to nowhere", "http://"),
        ].map { name, url in
            Fault(
                "redirect \(status): \(name)", unfollowed, .final, .leads(by: status) { _ in Elsewhere(url: url) })
        }
            + [("to a private address", "10.0.0.1"), ("to this machine", "127.0.0.2"), ("by name", "localhost")].map {
                name, host in
                Fault(
                    "redirect \(status): \(name)", "\(host) is a private address, which a public gallery may not name",
                    .final, .leads(by: status) { _ in Elsewhere(url: "http://\(host)/") })
            } + [
                Fault(
                    "redirect \(status): a loop", "more than 10 redirects", .final,
                    .leads(by: status) { Elsewhere(url: $0.server.url("/loop")) }),
                Fault(
                    "redirect \(status): from https to http", unfollowed, .final,
                    .leads(by: status) { test in
                        let server = try LoopbackServer.nginx(
                            leadingTo: test.server.url("/t/b"), by: status, pairs[.good]!)
                        return Elsewhere(url: server.url("/", scheme: "https"), resident: server)
                    }),
            ]
    }
}
