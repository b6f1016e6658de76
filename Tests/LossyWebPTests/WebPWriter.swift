import PictureTestSupport
import Pixels

/// Writes lossy WebP files with libwebp's encoder, and puts their chunks together anew.
struct WebPWriter {
    /// Chunks before and after the frame.
    var before: [[UInt8]] = []
    var after: [[UInt8]] = []

    /// Compresses a picture, with further options of `cwebp`.
    static func compress(_ picture: PixelBuffer, _ options: String...) throws -> [UInt8] {
        try Tool.run("/usr/bin/cwebp", ["-quiet"] + options + ["-o", "-", "--", "-"], input: picture.ppm)
    }

    /// Returns the frame of a file with a single chunk.
    static func frame(_ file: [UInt8]) -> [UInt8] {
        let length = Int(file[16]) | Int(file[17]) << 8 | Int(file[18]) << 16
        return Array(file[20..<20 + length])
    }

    /// Returns a file with the frame.
    func file(_ frame: [UInt8]) -> [UInt8] {
        let chunks = (before + [Self.chunk("VP8 ", frame)] + after).flatMap(\.self)
        return Array("RIFF".utf8) + Self.little(4 + chunks.count) + Array("WEBP".utf8) + chunks
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        Array(type.utf8) + little(content.count) + content + (content.count % 2 == 1 ? [0] : [])
    }

    /// Returns the chunk that announces an extended file.
    static func extended(flags: UInt8, width: Int, height: Int) -> [UInt8] {
        chunk("VP8X", [flags, 0, 0, 0] + little(width - 1).prefix(3) + little(height - 1).prefix(3))
    }

    private static func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (8 * $0) & 255) } }
}
