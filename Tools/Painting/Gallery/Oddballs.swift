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
