import Foundation

/// The program with a decoder that counts its starts.
public final class CountedDecoder: Sendable {
    private let folder = TestFolder()

    /// Puts both into one folder, where the program looks for its decoder.
    public init() throws {
        let script = "#!/bin/sh\necho >>\"${0%/*}/calls\"\nexec \(Built.folder)/vitrine-decoder \"$@\"\n"
        try folder.writeProgram("vitrine-decoder", script)
        for name in ["vitrine", "vitrine-fetcher"] {
            let program = "\(Built.folder)/\(name)"
            // The temporary folder may be on another disk.
            if link(program, folder.path(name)) != 0 {
                try FileManager.default.copyItem(atPath: program, toPath: folder.path(name))
            }
        }
    }

    /// The decoder.
    public var decoder: String { folder.path("vitrine-decoder") }

    /// The program, which finds that decoder.
    public var vitrine: String { folder.path("vitrine") }

    /// Returns the decoder's starts since the last call.
    public func count() -> Int {
        let calls = (try? String(contentsOfFile: folder.path("calls"), encoding: .utf8)) ?? ""
        unlink(folder.path("calls"))
        return calls.count
    }
}
