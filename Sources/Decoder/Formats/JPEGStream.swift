import CJPEG
import Pixels

/// One JPEG picture, row after row, reduced and cropped while it is decoded. A row is all that is in memory, unless the
/// picture comes in several scans.
struct JPEGStream: ~Copyable {
    /// The scales, in eighths, that are worth asking for.
    ///
    /// libjpeg-turbo has vector code for these only: 5/8, 6/8 and 7/8 take longer than the whole picture (24 MP: 110 to
    /// 160 ms against 100), and 3/8 as long as 4/8.
    static let reductions = [1, 2, 4, 8]

    /// The most scans of a picture that are read. Encoders make about ten; with thousands, a small file keeps a decoder
    /// busy for minutes.
    private static let mostScans = 500
    /// The most pixels that all scans together may go over, about two seconds' work.
    private static let mostScannedPixels = 1 << 31

    private let decoder: UnsafeMutablePointer<cjpeg_decoder>
    /// One row as the library delivers it.
    private var row: [UInt8] = []
    /// One row in RGB, used for inks only.
    private var converted: [UInt8] = []
    /// Whether scans were left unread, because there were more than anybody makes.
    private var stoppedEarly = false
    /// Whether scans were left unread, because the first ones were enough.
    private(set) var isCoarse = false

    /// Opens a picture and reads its header. The bytes have to outlive the stream.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        guard let decoder = cjpeg_new() else { throw .outOfMemory }
        let status = cjpeg_open(decoder, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
        guard status == .ok else {
            defer { cjpeg_free(decoder) }
            throw Self.failure(status, of: decoder)
        }
        self.decoder = decoder
    }

    deinit {
        cjpeg_free(decoder)
    }

    /// The whole picture's sides, as stored.
    var size: PixelSize { Self.size(of: decoder) }

    /// Whether the whole picture's coefficients have to be gathered before its first row.
    var hasMultipleScans: Bool { decoder.pointee.has_multiple_scans != 0 }

    /// The sides of what is decoded, after reducing and cropping.
    var output: PixelSize {
        PixelSize(width: Int(decoder.pointee.info.output_width), height: Int(decoder.pointee.info.output_height))
    }

    /// Whether data were missing or broken so far.
    var isIncomplete: Bool { decoder.pointee.is_incomplete != 0 || stoppedEarly }

    /// Whether its colours are inks'.
    var hasInks: Bool {
        let space = decoder.pointee.info.jpeg_color_space
        return space == JCS_CMYK || space == JCS_YCCK
    }

    /// Sets the scale; the rows can then be read. In haste, of a progressive picture only the scans that it takes to know
    /// something of every block.
    mutating func start(eighths: Int, haste: DecodeRequest.Haste) throws(DecodeFailure) {
        // Smooth chroma helps by 1 dB where pixels come out one for one, at no cost in time. Below that, most chroma is
        // scaled up within the inverse DCT, and the rest averages out 1 to 2 dB nearer the truth when left sharp.
        try check(cjpeg_start(decoder, UInt32(eighths), eighths == 8 ? 1 : 0))
        if hasMultipleScans { try gatherScans(haste) }
    }

    /// Narrows the rows to those columns and some before them; returns the first one that is left.
    mutating func crop(to columns: Range<Int>) throws(DecodeFailure) -> Int {
        var left = UInt32(columns.lowerBound)
        var width = UInt32(columns.count)
        try check(cjpeg_crop(decoder, &left, &width))
        row = Array(repeating: 0, count: Int(width) * Int(decoder.pointee.info.output_components))
        if hasInks { converted = Array(repeating: 0, count: Int(width) * PixelBuffer.bytesPerPixel) }
        return Int(left)
    }

    /// Passes over the first rows.
    mutating func skip(rows: Int) throws(DecodeFailure) {
        if rows > 0 { try check(cjpeg_skip(decoder, UInt32(rows))) }
    }

    /// Reads the next row, RGB.
    mutating func withNextRow(_ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(DecodeFailure) {
        try check(row.withUnsafeMutableBufferPointer { cjpeg_read_row(decoder, $0.baseAddress) })
        if hasInks {
            convertInks()
            converted.withUnsafeBufferPointer(body)
        } else {
            row.withUnsafeBufferPointer(body)
        }
    }

    /// Reads the scans of a progressive picture, as many as are good for it, and sets up the output of their sum.
    private mutating func gatherScans(_ haste: DecodeRequest.Haste) throws(DecodeFailure) {
        let affordable = min(Self.mostScans, max(1, Self.mostScannedPixels / (size.width * size.height)))
        var scans = 0
        var progress = cjpeg_progress.reading
        while progress != .ended, !stoppedEarly, !isCoarse {
            try check(cjpeg_consume(decoder, &progress))
            guard progress == .scanned else { continue }
            scans += 1
            isCoarse = haste == .soon && cjpeg_shows_every_block(decoder) != 0
            stoppedEarly = !isCoarse && scans == affordable
        }
        try check(cjpeg_show_scans(decoder))
    }

    /// Converts a row of CMYK. "Adobe Photoshop writes inverted data in CMYK JPEG files: 0 represents 100% ink coverage,
    /// rather than 0% ink as you'd expect" (libjpeg.txt), and so does everybody who sets Adobe's marker.
    private mutating func convertInks() {
        let inversion: UInt8 = decoder.pointee.info.saw_Adobe_marker != 0 ? 0 : 255
        for pixel in 0..<row.count / 4 {
            let black = UInt32(row[4 * pixel + 3] ^ inversion)
            for channel in 0..<3 {
                let absence = UInt32(row[4 * pixel + channel] ^ inversion)
                converted[3 * pixel + channel] = UInt8((absence * black + 127) / 255)
            }
        }
    }

    private func check(_ status: cjpeg_status) throws(DecodeFailure) {
        if status != .ok { throw Self.failure(status, of: decoder) }
    }

    private static func failure(
        _ status: cjpeg_status, of decoder: UnsafeMutablePointer<cjpeg_decoder>
    ) -> DecodeFailure {
        let message = String(cString: cjpeg_message(decoder))
        return switch status {
        case .ok, .damaged: .damaged(message)
        case .unsupported: .unsupportedFormat("JPEG (\(message))")
        case .oversized: .tooLarge(width: size(of: decoder).width, height: size(of: decoder).height)
        case .exhausted: .outOfMemory
        }
    }

    private static func size(of decoder: UnsafeMutablePointer<cjpeg_decoder>) -> PixelSize {
        PixelSize(width: Int(decoder.pointee.info.image_width), height: Int(decoder.pointee.info.image_height))
    }
}
