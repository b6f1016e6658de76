/// A soap bubble with a soft edge on a transparent background.
struct SoapBubble: Sendable {
    private let side = 240
    private let noise = Noise(3201)
    private let rainbow = Gradient([
        (0, 0x5AD0F0), (0.4, 0xF070C8), (0.8, 0xF8E070), (1.2, 0x60E0A0), (1.6, 0x7080F0), (2.2, 0xF0A0D0),
    ])

    /// The picture.
    var png: PNGWriter {
        var pixels: [UInt8] = []
        for y in 0..<side {
            for x in 0..<side {
                let q = (Vec2(Float(x), Float(y)) + 0.5) / Float(side) * 2 - 1
                let (light, cover) = film(q)
                for channel in 0..<3 {
                    pixels.append(UInt8(Raster.encoded(clamp(light[channel])) * 255 + 0.5))
                }
                pixels.append(UInt8(cover * 255 + 0.5))
            }
        }
        return PNGWriter(width: side, height: side, kind: .colourWithAlpha, pixels: pixels)
    }

    /// Returns the colour and opacity at a point measured from the middle in halves of a side.
    private func film(_ q: Vec2) -> (Vec3, Float) {
        let out = q.length / 0.86
        guard out < 1.12 else { return (.zero, 0) }
        let swirl = q * 1.7 + Vec2(noise.at(q * 2), noise.at(q * 2 + 9)) * 0.5
        let thick = out * 1.6 + 0.8 * noise.at(swirl)
        let glint = exp(-((q - Vec2(-0.36, -0.40)) / Vec2(0.20, 0.14)).length * 3)
        let cover = clamp(0.10 + 0.75 * pow(min(out, 1), 3) + glint) * smoothstep(1.12, 0.94, out)
        return (rainbow.at(thick) + Vec3(repeating: glint), cover)
    }
}
