/// The head of an answer, after redirects.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code; for a file 200, or 304 if it is the one that `If-None-Match` knows.
    public let status: Int
    /// Where the answer came from in the end.
    public let url: String
    /// Header values by their names in lower case; of a repeated header the last.
    public let headers: [String: String]
    /// The length of the body, where it is known beforehand.
    public let length: Int64?

    /// Puts a head together.
    public init(status: Int, url: String, headers: [String: String] = [:], length: Int64? = nil) {
        self.status = status
        self.url = url
        self.headers = headers
        self.length = length
    }
}
