import Pixels

/// A picture whose bytes break off, with the rest of it taken from its thumbnail.
extension DecodeReply {
    /// The same part of a smaller picture, as large as this one: to show through where there is nothing of this.
    func substitute(for request: DecodeRequest) -> DecodeRequest {
        var small = request
        small.box = pixels?.size ?? request.box
        small.region = region
        small.fitting = .cover
        small.enlarges = true
        return small
    }
}

extension PixelBuffer {
    /// The pixels of another picture where there are none of this one.
    ///
    /// What is missing of a picture has the background's colour; of a JPEG also the grey that libjpeg makes of no
    /// coefficients. Where the picture itself has such a pixel, the other one has nearly the same.
    func completed(by other: PixelBuffer, background: PixelColor) -> PixelBuffer {
        guard other.size == size else { return self }
        var mixed = bytes
        for pixel in stride(from: 0, to: bytes.count, by: Self.bytesPerPixel) {
            let colour = PixelColor(red: bytes[pixel], green: bytes[pixel + 1], blue: bytes[pixel + 2])
            guard colour == background || colour == PixelColor(red: 128, green: 128, blue: 128) else { continue }
            for channel in pixel..<pixel + Self.bytesPerPixel { mixed[channel] = other.bytes[channel] }
        }
        return PixelBuffer(size: size, bytes: mixed) ?? self
    }
}
