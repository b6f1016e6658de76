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
