import Pixels

/// For a process that has copies of itself decode pictures, of whatever formats they turn out to be.
extension Decoder {
    /// Loads the libraries of the formats that most pictures are in, and decodes something: what is made when it is first needed
    /// is made here, and not in each copy anew. The pictures it decodes for that are its own.
    public static func prepareForMany() {
        for format in formats where format.isLoadedAhead { format.prepare() }
        let size = PixelSize(width: 16, height: 16)
        let pixels = PixelBuffer(size: size, rows: [], background: .black)
        guard let file = try? JPEGEncoder.encode(pixels) else { return }
        for product in DecodeRequest.Product.allCases {
            var request = DecodeRequest(box: PixelSize(width: 7, height: 7))
            request.product = product
            guard let again = try? DecodeRequest(packet: request.packet),
                let reply = try? file.withUnsafeBytes({ try decode($0, again) }),
                let memory = try? SealedMemory()
            else { continue }
            try? DecodeOutcome.picture(reply).write(to: memory)
        }
    }

    /// Whether a copy of such a process has loaded what it needs for the picture on a descriptor. It looks at the first bytes alone.
    public static func isPreparedForMany(withPictureOn descriptor: CInt) -> Bool {
        format(ofPictureOn: descriptor)?.isLoadedAhead ?? true
    }
}
