import TestSupport

/// What a server can do wrong that speaks HTTP/2: `FaultyServers/http2.py` knows them by these names.
extension Fault {
    static let streams =
        ["reset-before", "reset-during", "calm", "short"].map {
            Fault("HTTP/2: \($0)", "the server broke the answer off", .passing, over($0))
        }
        // What is said of these depends on what curl reads first, of the end of a stream and of the connection's, and on
        // whether it has handed on by then what came before. That it passes does not.
        + [
            "goaway-before", "goaway-and-close", "close-before", "close-during", "refused", "reset-without-error",
            "endless-headers",
        ].map {
            Fault("HTTP/2: \($0)", "the connection broke", .passing, over($0)).or(
                "the server broke the answer off", "the answer was cut short",
                "the server closed the connection without an answer")
        } + [Fault("HTTP/2: stall", "the server has stopped sending", .passing, over("stall")).slow]

    private static func over(_ fault: String) -> Cause {
        .leads { test in
            // Half of it is the beginning of a list, and nobody comes to see that it is no picture.
            let body = test.folder.write("body", "<album>" + String(repeating: " ", count: 1_000))
            let server = try FaultyServer.http2(fault, pairs[.good]!, body: body)
            return Elsewhere(url: server.url("/"), resident: server)
        }
    }
}
