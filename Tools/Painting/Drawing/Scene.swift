/// A scene that can be painted.
protocol Scene: Sendable {
    /// The format the scene is composed for.
    var format: PictureFormat { get }

    /// The film for its pixels.
    var film: Film { get }

    /// Paints the scene on a blank canvas.
    func paint(_ canvas: inout Canvas)
}

extension Scene {
    var format: PictureFormat { .landscape }

    var film: Film { Film() }

    /// Returns the finished picture, at full size or divided by an integer.
    func picture(dividedBy divisor: Int = 1) -> Raster {
        var canvas = Canvas(format.divided(by: divisor))
        paint(&canvas)
        return film.develop(canvas, seed: 0x5EED)
    }
}

/// The size of a picture in its upright form, in pixels.
struct PictureFormat: Sendable, Equatable {
    let width: Int
    let height: Int

    /// Four by three.
    static let landscape = PictureFormat(width: 1600, height: 1200)

    /// Three by four.
    static let portrait = PictureFormat(width: 1200, height: 1600)

    /// Returns the size divided by an integer, for quick tests.
    func divided(by divisor: Int) -> PictureFormat {
        PictureFormat(width: max(width / divisor, 1), height: max(height / divisor, 1))
    }
}

/// Converts the light on a canvas to eight-bit pixels.
struct Film: Sendable {
    /// The factor applied to all light.
    var exposure: Float = 1

    /// Above 1, dark tones get darker and bright ones brighter, around a middle grey.
    var contrast: Float = 1

    /// 0 for black and white, 1 for unchanged colours.
    var saturation: Float = 1

    /// How much darker the corners are than the middle.
    var vignette: Float = 0.12

    /// The spread of the grain, in steps of the eight-bit scale.
    var grain: Float = 1.3

    /// The brightness above which tones are compressed instead of cut off.
    var shoulder: Float = 0.75

    /// Converts the light on a canvas to a picture.
    func develop(_ canvas: Canvas, seed: UInt64) -> Raster {
        var random = RandomSource(seed: seed)
        var raster = Raster(width: canvas.width, height: canvas.height)
        let curve = toneCurve()
        let middle = canvas.extent / 2
        for y in 0..<canvas.height {
            for x in 0..<canvas.width {
                let index = y * canvas.width + x
                let off = (Vec2(Float(x), Float(y)) / canvas.unit - middle) / middle.length
                let fall = 1 - vignette * dot(off, off) * (1.3 - 0.3 * dot(off, off))
                let light = canvas.pixels[index] * (exposure * fall)
                let tone = read(curve, mix(Vec3(repeating: light.luminance), light, saturation))
                // Grain is strongest in the middle tones; everywhere there is enough to avoid banding.
                let depth = 0.5 + 2 * tone.y * (1 - tone.y)
                let shift = random.bellShaped() * grain * depth + 0.5
                for channel in 0..<3 {
                    let value = clamp(tone[channel] * 255 + shift, 0, 255.4)
                    raster.bytes[index * 3 + channel] = UInt8(value)
                }
            }
        }
        return raster
    }

    /// The light at which the tone curve ends; brighter light is white.
    private static let brightest: Float = 8
    private static let steps = 4096

    /// The sRGB value, 0 to 1, for each amount of light.
    ///
    /// The amounts rise with the square of the index, so that there are enough for the shadows.
    private func toneCurve() -> [Float] {
        (0...Self.steps).map { step in
            let root = Float(step) / Float(Self.steps)
            var v = root * root * Self.brightest
            if contrast != 1 { v = 0.18 * pow(v / 0.18, contrast) }
            if v > shoulder {
                let room = 1 - shoulder
                v = shoulder + room * (1 - exp(-(v - shoulder) / room))
            }
            return Raster.encoded(v)
        }
    }

    private func read(_ curve: [Float], _ light: Vec3) -> Vec3 {
        let top = Float(Self.steps)
        let limited = (light / Self.brightest).clamped(lowerBound: .zero, upperBound: Vec3(repeating: 1))
        let places = limited.squareRoot() * top
        var tone = Vec3.zero
        for channel in 0..<3 {
            let index = min(Int(places[channel]), Self.steps - 1)
            tone[channel] = mix(curve[index], curve[index + 1], places[channel] - Float(index))
        }
        return tone
    }
}
