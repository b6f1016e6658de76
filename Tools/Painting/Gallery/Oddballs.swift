/// Pictures of unusual kinds and shapes.
struct Oddballs: Sendable {
    /// The files' names and contents.
    var files: [(name: String, bytes: [UInt8])] {
        let coast = LongCoast().picture()
        let kite = KiteString().picture()
        return [
            ("images/truecolour.png", png(of: Bulge(), dividedBy: 5).file),
            ("images/grey.png", greyPNG(of: SpiralStairs(), dividedBy: 5).file),
            ("images/palette.png", FlagPicture().png.file),
            ("images/alpha.png", SoapBubble().png.file),
            ("images/interlaced.png", png(of: StarTiles(), dividedBy: 8, interlaced: true).file),
            (
                "images/dot.png",
                PNGWriter(width: 1, height: 1, kind: .colour, pixels: [0xD8, 0x34, 0x2E]).file
            ),
            ("images/tiny.jpg", JPEGWriter(tiny, sampling: .full).file(quality: 95)),
            ("images/wide.jpg", JPEGWriter(coast).file(within: 90_000)),
            ("thumbnails/wide.jpg", JPEGWriter(coast.reduced(longerSide: 320)).file(quality: 88)),
            ("images/tall.jpg", JPEGWriter(kite).file(within: 60_000)),
            ("thumbnails/tall.jpg", JPEGWriter(kite.reduced(longerSide: 320)).file(quality: 88)),
            ("thumbnails/truecolour.jpg", JPEGWriter(Bulge().picture(dividedBy: 10)).file(quality: 80)),
            ("thumbnails/interlaced.png", png(of: StarTiles(), dividedBy: 16, interlaced: true).file),
        ]
    }

    /// The entries of their album.
    static let entries = [
        AlbumEntry(
            id: "truecolour", name: "PNG, true colour", date: "2016-01-01T09:00:00Z",
            image: "images/truecolour.png",
            thumbnail: "thumbnails/truecolour.jpg"),
        AlbumEntry(id: "grey", name: "PNG, grey", date: "2016-01-02T09:00:00Z", image: "images/grey.png"),
        AlbumEntry(
            id: "palette", name: "PNG with a palette", date: "2016-01-03T09:00:00Z",
            image: "images/palette.png"),
        AlbumEntry(
            id: "alpha", name: "PNG, half transparent", date: "2016-01-04T09:00:00Z",
            image: "images/alpha.png"),
        AlbumEntry(
            id: "interlaced", name: "PNG, interlaced", date: "2016-01-05T09:00:00Z",
            image: "images/interlaced.png",
            thumbnail: "thumbnails/interlaced.png"),
        AlbumEntry(id: "tiny", name: "Seven by five", date: "2016-01-06T09:00:00Z", image: "images/tiny.jpg"),
        AlbumEntry(id: "dot", name: "One pixel", date: "2016-01-07T09:00:00Z", image: "images/dot.png"),
        AlbumEntry(
            id: "wide", name: "The whole coast", date: "2016-01-08T09:00:00Z", image: "images/wide.jpg",
            thumbnail: "thumbnails/wide.jpg"),
        AlbumEntry(
            id: "tall", name: "A kite on a long string", date: "2016-01-09T09:00:00Z",
            image: "images/tall.jpg",
            thumbnail: "thumbnails/tall.jpg"),
        AlbumEntry(
            id: "portrait", name: "Standing, without a thumbnail", date: "2016-01-10T09:00:00Z",
            image: "images/paper-fox.jpg"),
    ]

    /// Without grain, which PNG cannot compress.
    private func smooth(_ scene: any Scene, dividedBy divisor: Int) -> Raster {
        var canvas = Canvas(scene.format.divided(by: divisor))
        scene.paint(&canvas)
        var film = scene.film
        film.grain = 0
        return film.develop(canvas, seed: 1)
    }

    private func png(of scene: any Scene, dividedBy divisor: Int, interlaced: Bool = false) -> PNGWriter {
        let raster = smooth(scene, dividedBy: divisor)
        return PNGWriter(
            width: raster.width, height: raster.height, kind: .colour, pixels: raster.bytes,
            interlaced: interlaced)
    }

    private func greyPNG(of scene: any Scene, dividedBy divisor: Int) -> PNGWriter {
        let raster = smooth(scene, dividedBy: divisor)
        let levels = stride(from: 0, to: raster.bytes.count, by: 3).map { raster.bytes[$0] }
        return PNGWriter(width: raster.width, height: raster.height, kind: .grey, pixels: levels)
    }

    /// Seven by five pixels: a very small sunset.
    private var tiny: Raster {
        var raster = Raster(width: 7, height: 5)
        let rows: [[UInt8]] = [
            [58, 74, 140], [150, 96, 150], [244, 150, 96], [40, 60, 110], [24, 36, 78],
        ]
        for y in 0..<5 {
            for x in 0..<7 {
                let sun = y == 2 && (2...4).contains(x)
                for channel in 0..<3 {
                    raster.bytes[(y * 7 + x) * 3 + channel] =
                        sun ? [255, 232, 170][channel] : rows[y][channel]
                }
            }
        }
        return raster
    }
}

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

/// Signal flags in eight flat colours, which suit a palette.
struct FlagPicture: Sendable {
    private let width = 360
    private let height = 240

    /// The picture.
    var png: PNGWriter {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels.append(level(x, y)) }
        }
        let palette: [UInt8] = [
            0x0E, 0x2A, 0x4E, 0xF6, 0xF2, 0xE6, 0xD0, 0x2A, 0x2C, 0xF6, 0xC4, 0x2A, 0x1C, 0x5C, 0xB0, 0x12,
            0x12, 0x16,
            0x2C, 0x8A, 0x58, 0x8A, 0x9A, 0xA8,
        ]
        return PNGWriter(width: width, height: height, kind: .palette, pixels: pixels, palette: palette)
    }

    /// Returns a pixel's palette index.
    private func level(_ x: Int, _ y: Int) -> UInt8 {
        let (column, row) = (x / 90, y / 120)
        let (u, v) = (x % 90 - 8, y % 120 - 14)
        guard (0..<74).contains(u), (0..<92).contains(v) else { return 0 }
        switch row * 4 + column {
        case 0: return u < 37 ? 1 : 4
        case 1: return (u / 19 + v / 23).isMultiple(of: 2) ? 1 : 4
        case 2: return (u - 37) * (u - 37) + (v - 46) * (v - 46) < 600 ? 2 : 1
        case 3: return u + v * 74 / 92 < 74 ? 3 : 2
        case 4: return abs(u - 37) < 9 || abs(v - 46) < 9 ? 2 : 1
        case 5: return v / 31 == 1 ? 3 : 4
        case 6: return min(u, 73 - u, v, 91 - v) < 14 ? 6 : (min(u, 73 - u, v, 91 - v) < 26 ? 1 : 2)
        default: return (u + v) / 18 % 2 == 0 ? 5 : 3
        }
    }
}
