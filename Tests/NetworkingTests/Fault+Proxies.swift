import TestSupport

/// What can go wrong on the way through a proxy: without a tunnel, and with one.
extension Fault {
    static let proxies =
        ["http", "https"].flatMap { scheme in
            [
                Fault(
                    "proxy, \(scheme): wants a password",
                    "the proxy http://HOST wants a password", .final,
                    .proxied(scheme, .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"photos\""]))),
                Fault(
                    "proxy, \(scheme): is gone", "the proxy http://HOST cannot be reached", .passing,
                    .proxied(scheme, nil)
                ).blamedOnNetwork,
                Fault(
                    "proxy, \(scheme): reset", "the connection broke", .passing, .proxied(scheme, [.reset])),
                Fault(
                    "proxy, \(scheme): endless headers", "the answer breaks the protocol: its headers are too long",
                    .final, .proxied(scheme, [.send(ok), .sendForever(Array("X: y\r\n".utf8))])),
            ]
        } + [
            Fault(
                "proxy: garbage in place of an answer", "the answer breaks the protocol: …", .final,
                .proxied("http", [.send("garbage\r\n\r\n"), .close])),
            // curl has no other word for it.
            Fault(
                "proxy: garbage in place of a tunnel", "the connection broke", .passing,
                .proxied("https", [.send("garbage\r\n\r\n"), .close])),
            Fault(
                "proxy: refuses a tunnel", "the proxy refuses to connect (403)", .final, .proxied("https", .answer(403))
            ),
            Fault(
                "proxy: has no tunnel now", "the proxy refuses to connect (502)", .passing,
                .proxied("https", .answer(502))),
        ]
}
