import CPNG
import Glibc
import Pixels

/// One PNG picture's rows. A row is all that is in memory, unless the picture is interlaced.
struct PNGStream: ~Copyable {
    private let decoder: UnsafeMutablePointer<cpng_decoder>
    private let size: PixelSize
    /// How the rows come.
    let channels: OutputRows.Channels
    /// What brings them to sRGB, where a profile says that they are not. "When the iCCP chunk is present, PNG decoders that
    /// recognize it and are capable of colour management shall ignore the gAMA and cHRM chunks" (PNG, 11.3.2.1); where the
    /// profile is not understood, libpng goes by gAMA.
    let conversion: ColourConversion?

    /// Opens a picture whose header was found good. The bytes have to outlive the stream.
    init(_ bytes: UnsafeRawBufferPointer, size: PixelSize) throws(DecodeFailure) {
        guard let decoder = cpng_new() else { throw .outOfMemory }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        var status = cpng_open(decoder, start, bytes.count, UInt32(DecodeReply.largestSourceSide))
        var length: UInt32 = 0
        let profile = status == .ok ? cpng_profile(decoder, &length) : nil
        let conversion = ColourConversion(profile: UnsafeRawBufferPointer(start: profile, count: Int(length)))
        if status == .ok { status = cpng_start(decoder, conversion == nil ? 1 : 0) }
        guard status == .ok else {
            defer { cpng_free(decoder) }
            throw Self.failure(status, of: decoder)
        }
        self.decoder = decoder
        self.size = size
        self.conversion = conversion
        channels = cpng_channels(decoder) == 4 ? .rgba : .rgb
    }

    deinit {
        cpng_free(decoder)
    }

    /// Reads a picture that is stored from top to bottom, and hands on those rows. Returns whether all of them came.
    mutating func read(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        var row = [UInt8](repeating: 0, count: size.width * channels.count)
        for index in 0..<rows.upperBound {
            let status = row.withUnsafeMutableBufferPointer { cpng_read_row(decoder, $0.baseAddress) }
            guard try goesOn(status, canShow: index > rows.lowerBound) else { return false }
            guard index >= rows.lowerBound else { continue }
            row.withUnsafeBufferPointer(body)
        }
        return true
    }

    /// Reads a picture that is stored in seven passes, holds those rows, and hands them on at the end. Returns whether
    /// all passes came; of a picture cut short, the rows are coarse.
    mutating func readInterlaced(
        _ rows: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(DecodeFailure) -> Bool {
        let bytesPerRow = size.width * channels.count
        // calloc, because an array that does not fit into memory ends the process without an answer.
        guard let memory = calloc(rows.count, bytesPerRow) else { throw .outOfMemory }
        defer { free(memory) }
        let pixels = memory.assumingMemoryBound(to: UInt8.self)
        let isWhole = try refine(rows) { pixels + ($0 - rows.lowerBound) * bytesPerRow }
        for index in 0..<rows.count {
            body(UnsafeBufferPointer(start: pixels + index * bytesPerRow, count: bytesPerRow))
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

    private static func failure(
        _ status: cpng_status, of decoder: UnsafeMutablePointer<cpng_decoder>
    ) -> DecodeFailure {
        status == .exhausted ? .outOfMemory : .damaged(String(cString: cpng_message(decoder)))
    }
}
