import Foundation
import PictureTestSupport
import TestSupport

/// The decoder behind a script that records each start: its process identifier and its role.
struct NotedDecoder {
    /// The script.
    let path: String
    private let notes: String

    init(in folder: TestFolder) throws {
        notes = folder.path("starts")
        path = try folder.writeProgram(
            "decoder", "#!/bin/sh\necho $$ $1 >> '\(notes)'\nexec '\(try DecoderProcess.path)' \"$@\"\n")
    }

    /// The recorded process identifiers and first arguments.
    var starts: [(number: pid_t, role: Substring)] {
        get throws {
            let text = try String(contentsOfFile: notes, encoding: .utf8)
            return text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ")
                return pid_t(parts[0]).map { ($0, parts[1]) }
            }
        }
    }
}
