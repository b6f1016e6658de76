import Foundation
import Pictures
import Pixels

/// Has a picture decoded that was made to do harm, and counts what that costs.
struct Bomb {
    let decoder: String
    let good: [UInt8]

    func meet(_ path: String) throws {
        let client = DecoderClient(path: decoder)
        let request = DecodeRequest(box: PixelSize(width: 160, height: 120))
        // Once, to have loaded what is loaded when it is first needed.
        _ = try client.decode(.bytes(good), request)
        let before = try resident("VmRSS")
        do {
            let reply = try client.decode(.file(path), request)
            DecoderCustomer.tell("outcome", reply.isComplete ? "whole" : "incomplete")
        } catch {
            DecoderCustomer.tell("outcome", "\(error)")
        }
        // The most there ever was: what came and went meanwhile counts too.
        DecoderCustomer.tell("grown", try resident("VmHWM") - before)
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        DecoderCustomer.tell("seconds", usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        DecoderCustomer.tell("resident", usage.ru_maxrss)
    }

    /// A line of /proc/self/status, in KiB.
    private func resident(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
