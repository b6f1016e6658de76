import Foundation
import Pictures
import Pixels

/// Decodes a malicious picture and counts the cost.
struct Bomb {
    let decoder: String
    let good: [UInt8]

    func meet(_ path: String) throws {
        let client = DecoderClient(path: decoder)
        let request = DecodeRequest(box: PixelSize(width: 160, height: 120))
        // A first picture loads everything that is loaded on demand.
        _ = try client.decode(.bytes(good), request)
        let (before, worked) = (try resident("VmRSS"), work())
        do {
            let reply = try client.decode(.file(path), request)
            ClientProgram.tell("outcome", reply.isComplete ? "whole" : "incomplete")
        } catch {
            ClientProgram.tell("outcome", "\(error)")
        }
        // The peak, so that temporary memory counts too.
        ClientProgram.tell("grown", try resident("VmHWM") - before)
        ClientProgram.tell("milliseconds", work() - worked)
        ClientProgram.tell("resident", usage().ru_maxrss)
    }

    /// Milliseconds of processor time used by decoders.
    private func work() -> Int {
        let usage = usage()
        return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000
            + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000
    }

    /// The system's counts for ended children.
    private func usage() -> rusage {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return usage
    }

    /// Reads a line of /proc/self/status, in KiB.
    private func resident(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
