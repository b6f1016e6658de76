/// Flat shapes as signed distances: negative inside, zero on the edge, positive outside.
enum Outline {
    /// A circle.
    static func circle(_ p: Vec2, _ centre: Vec2, _ radius: Float) -> Float {
        (p - centre).length - radius
    }

    /// An ellipse with level axes. The distance is exact on the edge and approximate near it.
    static func ellipse(_ p: Vec2, _ centre: Vec2, _ radii: Vec2) -> Float {
        let q = p - centre
        let k = (q / radii).length
        let slope = (q / (radii * radii)).length
        return slope > 0 ? k * (k - 1) / slope : -min(radii.x, radii.y)
    }

    /// A rectangle with rounded corners, given by its centre and half its sides.
    static func box(_ p: Vec2, _ centre: Vec2, _ half: Vec2, rounding: Float = 0) -> Float {
        let q = Vec2(abs(p.x - centre.x), abs(p.y - centre.y)) - half + rounding
        let outside = Vec2(max(q.x, 0), max(q.y, 0)).length
        return outside + min(max(q.x, q.y), 0) - rounding
    }

    /// A stroke with round ends whose radius changes evenly.
    static func stroke(_ p: Vec2, _ a: Vec2, _ b: Vec2, _ radius: Float, tapering end: Float? = nil) -> Float {
        let along = share(of: p, from: a, to: b)
        return (p - mix(a, b, along)).length - mix(radius, end ?? radius, along)
    }

    /// A polygon, convex or not.
    static func polygon(_ p: Vec2, _ corners: [Vec2]) -> Float {
        var nearest = Float.greatestFiniteMagnitude
        var inside = false
        var b = corners[corners.count - 1]
        for a in corners {
            let gap = p - mix(a, b, share(of: p, from: a, to: b))
            nearest = min(nearest, dot(gap, gap))
            if (a.y > p.y) != (b.y > p.y), p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x {
                inside.toggle()
            }
            b = a
        }
        return inside ? -nearest.squareRoot() : nearest.squareRoot()
    }

    /// Two shapes merged smoothly where they are closer than about `blend`.
    static func melt(_ a: Float, _ b: Float, _ blend: Float) -> Float {
        let h = max(blend - abs(a - b), 0) / blend
        return min(a, b) - h * h * blend / 4
    }

    /// Returns the relative position between `a` and `b` of the point nearest to `p`, from 0 to 1.
    static func share(of p: Vec2, from a: Vec2, to b: Vec2) -> Float {
        let way = b - a
        return clamp(dot(p - a, way) / max(dot(way, way), 1e-12))
    }
}
