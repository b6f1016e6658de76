extension Canvas {
    /// Draws a straight stroke with round ends, optionally tapering.
    mutating func stroke(
        from a: Vec2, to b: Vec2, width: Float, tapering endWidth: Float? = nil, _ colour: Vec3,
        opacity: Float = 1
    ) {
        let last = endWidth ?? width
        let unit = unit
        glaze(in: Self.box(a, b, max(width, last) / 2 + 1.5 / unit)) { p in
            (colour, opacity * Self.cover(p, a, b, width * unit, last * unit, unit))
        }
    }

    /// Adds the light of a glowing stroke, optionally tapering.
    mutating func streak(
        from a: Vec2, to b: Vec2, width: Float, tapering endWidth: Float? = nil, _ light: Vec3
    ) {
        let last = endWidth ?? width
        let unit = unit
        lighten(in: Self.box(a, b, max(width, last) / 2 + 1.5 / unit)) { p in
            light * Self.cover(p, a, b, width * unit, last * unit, unit)
        }
    }

    /// Paints a round spot.
    mutating func disc(_ centre: Vec2, radius: Float, _ colour: Vec3, opacity: Float = 1) {
        let unit = unit
        glaze(in: Box(around: centre, radius: radius + 1 / unit)) { p in
            (colour, opacity * clamp(0.5 - ((p - centre).length - radius) * unit))
        }
    }

    /// Adds a soft round light that fades to nothing at `radius`.
    mutating func glow(_ centre: Vec2, radius: Float, _ light: Vec3) {
        // A light smaller than a pixel keeps its strength but is spread over the pixel.
        let wide = max(radius, 1.2 / unit)
        let strength = (radius / wide) * (radius / wide)
        lighten(in: Box(around: centre, radius: wide)) { p in
            let near = clamp(1 - (p - centre).length / wide)
            return light * (near * near * strength)
        }
    }

    /// Fills a polygon, with an edge one pixel soft.
    mutating func polygon(_ corners: [Vec2], _ paint: (Vec2) -> Vec3) {
        guard let first = corners.first else { return }
        var box = Box(first.x, first.y, first.x, first.y)
        for corner in corners {
            box.low = pointwiseMin(box.low, corner - 1 / unit)
            box.high = pointwiseMax(box.high, corner + 1 / unit)
        }
        fill({ p in Outline.polygon(p, corners) }, in: box, paint)
    }

    /// Returns how much of the pixel around `p` a tapering stroke covers; strokes thinner than a pixel become faint.
    private static func cover(
        _ p: Vec2, _ a: Vec2, _ b: Vec2, _ width: Float, _ endWidth: Float, _ unit: Float
    ) -> Float {
        let along = Outline.share(of: p, from: a, to: b)
        let local = mix(width, endWidth, along)
        let distance = (p - mix(a, b, along)).length * unit
        return clamp(0.5 + max(local, 1) / 2 - distance) * min(local, 1)
    }

    private static func box(_ a: Vec2, _ b: Vec2, _ margin: Float) -> Box {
        let low = pointwiseMin(a, b) - margin
        let high = pointwiseMax(a, b) + margin
        return Box(low.x, low.y, high.x, high.y)
    }
}
