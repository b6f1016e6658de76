/// Tells a handshake of TLS that was cut off from one that was refused.
///
/// curl has one code for both, CURLE_SSL_CONNECT_ERROR: "A problem occurred somewhere in the SSL/TLS handshake. You really
/// want the error buffer and read the message there". A refusal will be repeated, but a connection that breaks does so at
/// any moment, in a handshake too.
enum BrokenHandshake {
    /// What is said when bytes stopped coming, by curl, and by OpenSSL and GnuTLS through it.
    private static let signs = [
        "Recv failure:", "Send failure:",
        // What curl says in place of OpenSSL's reason, when OpenSSL gave none: the system had one.
        "SSL_connect:",
        "unexpected eof",
        "non-properly terminated", "in the pull function", "in the push function",
    ]

    /// Whether a message in curl's error buffer is about the connection and not about TLS.
    static func isMeant(by message: String) -> Bool {
        signs.contains { message.holds($0) }
    }
}
