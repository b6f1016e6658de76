/// Something that can be painted.
protocol Scene: Sendable {
    /// The outline the scene is composed for.
    var format: PictureFormat { get }

    /// The film it is to be developed on.
    var film: Film { get }

    /// Paints the scene over a blank canvas.
    func paint(_ canvas: inout Canvas)
}

extension Scene {
    var format: PictureFormat { .landscape }

    var film: Film { Film() }

    /// The finished picture, full size or a whole number of times smaller.
    func picture(dividedBy divisor: Int = 1) -> Raster {
        var canvas = Canvas(format.divided(by: divisor))
        paint(&canvas)
        return film.develop(canvas, seed: 0x5EED)
    }
}
