import CPNG
import Glibc
import Pixels

/// One PNG picture's rows, opaque. A row is all that is in memory, unless the picture is interlaced.
struct PNGStream: ~Copyable {
    private let decoder: UnsafeMutablePointer<cpng_decoder>
    private let size: PixelSize
    /// 3 for RGB, 4 for RGBA.
    private let channels: Int
    private let background: PixelColor
    /// One row in RGB, used for transparent pictures only.
    private var flattened: [UInt8] = []

    /// Opens a picture whose header was found good. The bytes have to outlive the stream.
    init(_ bytes: UnsafeRawBufferPointer, size: PixelSize, background: PixelColor) throws(DecodeFailure) {
        guard let decoder = cpng_new() else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        let status = cpng_open(decoder, start, bytes.count, UInt32(DecodeReply.largestSourceSide))
        guard status == .ok else {
            defer { cpng_free(decoder) }
            throw Self.failure(status, of: decoder)
        }
        self.decoder = decoder
        self.size = size
        self.background = background
        channels = Int(cpng_channels(decoder))
        if channels == 4 { flattened = Array(repeating: 0, count: size.width * PixelBuffer.bytesPerPixel) }
    }

    deinit {
        cpng_free(decoder)
    }

    /// Reads a picture that is stored from top to bottom, and hands on those rows. Returns whether all of them came.
    mutating func read(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        var row = [UInt8](repeating: 0, count: size.width * channels)
        for index in 0..<rows.upperBound {
            let status = row.withUnsafeMutableBufferPointer { cpng_read_row(decoder, $0.baseAddress) }
            guard try goesOn(status, canShow: index > rows.lowerBound) else { return false }
            guard index >= rows.lowerBound else { continue }
            row.withUnsafeBufferPointer { flatten($0, body) }
        }
        return true
    }

    /// Reads a picture that is stored in seven passes, holds those rows, and hands them on at the end. Returns whether
    /// all passes came; of a picture cut short, the rows are coarse.
    mutating func readInterlaced(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        let bytesPerRow = size.width * channels
        // calloc, because an array that does not fit into memory ends the process without an answer.
        guard let memory = calloc(rows.count, bytesPerRow) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = memory.assumingMemoryBound(to: UInt8.self)
        let isWhole = try refine(rows) { pixels + ($0 - rows.lowerBound) * bytesPerRow }
        for index in 0..<rows.count {
            flatten(UnsafeBufferPointer(start: pixels + index * bytesPerRow, count: bytesPerRow), body)
        }
        return isWhole
    }

    private func refine(
        _ rows: Range<Int>, _ memory: (Int) -> UnsafeMutablePointer<UInt8>
    ) throws(DecodeFailure) -> Bool {
        for pass in 0..<7 {
            for index in 0..<size.height {
                let status = cpng_refine_row(decoder, rows.contains(index) ? memory(index) : nil)
                guard try goesOn(status, canShow: pass > 0 || index > rows.lowerBound) else { return false }
            }
        }
        return true
    }

    /// Whether to read on: yes after a good row, no after a bad one behind others that can be shown.
    private func goesOn(_ status: cpng_status, canShow: Bool) throws(DecodeFailure) -> Bool {
        if status == .ok { return true }
        if status == .damaged, canShow { return false }
        throw Self.failure(status, of: decoder)
    }

    /// Lays a row over the background: each colour is mixed by its opacity, in sRGB's own steps as browsers do it.
    private mutating func flatten(
        _ row: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard channels == 4 else { return body(row) }
        let below = (UInt32(background.red), UInt32(background.green), UInt32(background.blue))
        flattened.withUnsafeMutableBufferPointer { flattened in
            for pixel in 0..<size.width {
                let (source, target) = (4 * pixel, 3 * pixel)
                let opacity = UInt32(row[source + 3])
                func mix(_ color: UInt8, _ below: UInt32) -> UInt8 {
                    UInt8((UInt32(color) * opacity + below * (255 - opacity) + 127) / 255)
                }
                flattened[target] = mix(row[source], below.0)
                flattened[target + 1] = mix(row[source + 1], below.1)
                flattened[target + 2] = mix(row[source + 2], below.2)
            }
        }
        flattened.withUnsafeBufferPointer(body)
    }

    private static func failure(
        _ status: cpng_status, of decoder: UnsafeMutablePointer<cpng_decoder>
    ) -> DecodeFailure {
        status == .exhausted ? .outOfMemory : .damaged(String(cString: cpng_message(decoder)))
    }
}
