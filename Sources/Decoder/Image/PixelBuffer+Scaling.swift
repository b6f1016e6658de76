extension PixelBuffer {
    /// A part of the picture at another size: each pixel is the mean of those that it stands for.
    public func scaled(_ part: PixelRect, to size: PixelSize) -> PixelBuffer {
        var filter = AreaFilter(source: self.size, region: part, output: size)
        var rows: [UInt8] = []
        rows.reserveCapacity(Self.byteCount(of: size) ?? 0)
        let length = width * Self.bytesPerPixel
        bytes.withUnsafeBufferPointer { bytes in
            for row in filter.sourceRows {
                filter.add(
                    row: UnsafeBufferPointer(rebasing: bytes[row * length..<(row + 1) * length]),
                    appendingOutputTo: &rows)
            }
        }
        return PixelBuffer(size: size, rows: rows, background: .black)
    }
}
