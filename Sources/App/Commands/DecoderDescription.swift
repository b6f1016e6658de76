import Pictures

/// What `vitrine --version --verbose` says of the picture decoder: the libraries it reads pictures with, and the walls that
/// stand around it on this machine.
struct DecoderDescription {
    private let lines: [String]

    /// Asks a decoder.
    init(_ decoder: DecoderClient) {
        do {
            let report = try decoder.report()
            lines = [
                "pictures: " + report.libraries.joined(separator: ", "),
                "the picture decoder is confined by: " + report.restrictions.joined(separator: ", "),
            ]
        } catch {
            lines = ["\(error)"]
        }
    }

    /// Prints it, a line each.
    func print() {
        for line in lines { Output.print(line) }
    }
}
