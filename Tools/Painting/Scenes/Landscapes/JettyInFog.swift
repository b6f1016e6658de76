/// A jetty leads into the fog; a rowing boat is moored beside it.
struct JettyInFog: Scene {
    private let noise = Noise(2701)
    private let vanish = Vec2(0.86, 0.43)

    var film: Film { Film(exposure: 1.0, saturation: 0.9, vignette: 0.12, grain: 1.1) }

    func paint(_ canvas: inout Canvas) {
        let fog = Gradient([(0, 0xA9B3B8), (0.42, 0xC6CCCC), (0.5, 0xC2C9CA), (1, 0x8C999E)])
        canvas.shade { p in
            let veil = noise.fractal(Vec2(p.x * 1.4, p.y * 4), octaves: 4)
            let away = 1 / max(p.y - vanish.y, 0.012)
            let ripple =
                p.y > vanish.y ? noise.fractal(Vec2((p.x - 0.66) * away * 1.4, away * 5), octaves: 4) : 0
            let calm = smoothstep(vanish.y + 0.02, 1, p.y)
            let sun = colour(0xFFF2DC) * (0.16 * exp(-(p - Vec2(0.86, 0.24)).length * 4))
            return fog.at(p.y) * (1 + 0.03 * veil + 0.10 * ripple * calm) + sun
        }
        paintFarShore(&canvas)
        paintJetty(&canvas)
        paintBoat(&canvas)
        paintGulls(&canvas)
    }

    /// Returns a colour faded by the fog at a distance; the nearest has the distance 0.
    private func fogged(_ tint: Vec3, _ distance: Float) -> Vec3 {
        mix(tint, colour(0xC3CACB), 1 - 0.86 * exp(-distance * 0.30))
    }

    private func paintFarShore(_ canvas: inout Canvas) {
        canvas.glaze(in: Box(0, 0.32, 0.75, 0.46)) { p in
            let top =
                0.425 - 0.055 * smoothstep(0.62, 0.1, p.x)
                * (0.8 + 0.5 * noise.fractal(Vec2(p.x * 9, 1), octaves: 4))
            let cover =
                smoothstep(top - 0.006, top + 0.006, p.y) * smoothstep(0.436, 0.428, p.y)
                * smoothstep(0.70, 0.45, p.x)
            return (colour(0x9FAAAE), cover * 0.55)
        }
        canvas.glaze(in: Box(0, 0.43, 0.58, 0.52)) { p in
            let depth =
                0.035 * (1 + 0.5 * noise.fractal(Vec2(p.x * 14, p.y * 30), octaves: 3))
                * smoothstep(0.62, 0.1, p.x)
            return (colour(0xA4AEB1), smoothstep(0.43 + depth, 0.43, p.y) * 0.30)
        }
    }

    /// Returns the picture position of a point on or above the water: `x` across the jetty, `height` up, `away` from
    /// the eye.
    private func seen(_ x: Float, _ height: Float, _ away: Float) -> Vec2 {
        vanish + Vec2((x - 0.62), 0.62 - height) / away
    }

    private func paintJetty(_ canvas: inout Canvas) {
        let frames = (0..<18).reversed()
        for index in frames {
            let away = 0.66 * pow(1.235, Float(index))
            let wood = fogged(colour(0x3A3632), away - 0.7)
            for side in [Float(-0.32), 0.32] {
                post(&canvas, side, away, wood)
            }
            deck(&canvas, from: away, to: away * 1.235)
        }
    }

    private func post(_ canvas: inout Canvas, _ x: Float, _ away: Float, _ wood: Vec3) {
        let width = 0.060 / away
        let head = seen(x, 0.47, away)
        let line = seen(x, 0.0, away)
        let box = Box(head.x - width, head.y - width, head.x + width, line.y)
        canvas.fill(
            { p in
                let wobble = 0.06 * width * noise.at(Vec2(p.y * 30 / max(width * 18, 0.02), x * 9))
                return max(abs(p.x - head.x + wobble) - width / 2, head.y - p.y)
            }, in: box
        ) { p in
            let across = (p.x - head.x) / width
            let grain = noise.fractal(Vec2(across * 5, p.y * 20) + x * 8, octaves: 3)
            let cap = smoothstep(0.02 / away, 0.0, p.y - head.y) * 0.35
            return wood * (1.1 - 0.45 * across + 0.18 * grain) + Vec3(repeating: cap * 0.25)
        }
        // Its image in the water, broken into rings.
        canvas.glaze(in: Box(head.x - width * 1.6, line.y, head.x + width * 1.6, line.y + 0.5 / away)) { p in
            let depth = (p.y - line.y) * away
            let shift = noise.at(Vec2(p.x * 6, p.y * 70 * min(away, 3))) * (0.25 + depth) * width
            let cover =
                smoothstep(width * 0.56, width * 0.44, abs(p.x - head.x + shift))
                * smoothstep(0.46, 0.05, depth)
            return (wood, cover * 0.5)
        }
    }

    private func deck(_ canvas: inout Canvas, from near: Float, to far: Float) {
        let planks = 6
        for plank in (0..<planks).reversed() {
            let a = mix(near, far, Float(plank) / Float(planks))
            let b = mix(near, far, (Float(plank) + 0.86) / Float(planks))
            let key = noise.unit(Int32(plank), Int32(near * 100))
            let wood = fogged(mix(colour(0x5A5650), colour(0x78726A), key), a - 0.7)
            let shadow = fogged(colour(0x35332F), a - 0.7)
            let ragged = 0.012 * (key - 0.5)
            let corners = [
                seen(-0.30 + ragged, 0.22, a), seen(0.30 + ragged, 0.22, a), seen(0.30 + ragged, 0.22, b),
                seen(-0.30 + ragged, 0.22, b),
            ]
            canvas.polygon(corners) { p in
                let grain = noise.fractal(Vec2(p.x * 16 + key * 50, p.y * 190), octaves: 3)
                return wood * (1 + 0.15 * grain * exp(-(a - 0.7) * 0.5))
            }
            let lip = [
                corners[0], corners[1], corners[1] + Vec2(0, 0.026 / a), corners[0] + Vec2(0, 0.026 / a),
            ]
            canvas.polygon(lip) { _ in shadow }
        }
    }

    private func paintBoat(_ canvas: inout Canvas) {
        let place = Vec2(1.025, 0.80)
        let tint = fogged(colour(0x2E4A58), 0.4)
        canvas.glaze(in: Box(0.7, place.y, 1.34, place.y + 0.14)) { p in
            let q = Vec2(p.x + 0.012 * noise.at(p * Vec2(8, 60)), 2 * place.y - p.y)
            let inside = hull(q, place)
            return (
                colour(0x4E5C62),
                smoothstep(0.010, -0.010, inside) * 0.6 * smoothstep(0.13, 0.0, p.y - place.y)
            )
        }
        canvas.fill({ p in hull(p, place) }, in: Box(0.7, 0.6, 1.34, 0.85)) { p in
            let strake = smoothstep(
                0.36, 0.48, abs(fract((p.y - place.y + 0.16 * (p.x - place.x) * (p.x - place.x)) * 44) - 0.5))
            return tint * (1.15 - 4 * (p.y - place.y + 0.05)) * (1 - 0.22 * strake)
        }
        // The inside is dark except for two thwarts.
        let rim = place + Vec2(0, -0.066)
        canvas.fill(
            { p in
                Outline.ellipse(
                    p + Vec2(0, 0.35 * (p.x - rim.x) * (p.x - rim.x)), rim, Vec2(0.178, 0.017))
            },
            in: Box(0.7, 0.6, 1.34, 0.85)
        ) { _ in fogged(colour(0x1E2A30), 0.5) }
        for dx in [Float(-0.06), 0.065] {
            canvas.stroke(
                from: rim + Vec2(dx, -0.014), to: rim + Vec2(dx + 0.006, 0.014), width: 0.020,
                fogged(colour(0x8A7A66), 0.5))
        }
        canvas.stroke(
            from: rim + Vec2(-0.10, 0.004), to: rim + Vec2(0.13, -0.028), width: 0.006,
            fogged(colour(0xA8977E), 0.5))
        canvas.stroke(
            from: place + Vec2(-0.19, -0.085), to: Vec2(0.630, 0.595), width: 0.0032,
            fogged(colour(0x5A554C), 0.5))
    }

    private func hull(_ p: Vec2, _ place: Vec2) -> Float {
        let q = p - place
        let sheer = -0.066 - 0.62 * q.x * q.x
        let left = -0.195 + 0.75 * (q.y + 0.07)
        let right = 0.200 - 1.05 * (q.y + 0.08)
        return max(max(sheer - q.y, q.y - 0.004), max(left - q.x, q.x - right))
    }

    private func paintGulls(_ canvas: inout Canvas) {
        for (place, size) in [
            (Vec2(0.40, 0.20), Float(0.030)), (Vec2(0.48, 0.245), 0.020), (Vec2(0.335, 0.262), 0.017),
        ] {
            for side in [Float(-1), 1] {
                let knee = place + Vec2(side * size * 0.5, -size * 0.42)
                canvas.stroke(
                    from: place, to: knee, width: size * 0.15, tapering: size * 0.12,
                    fogged(colour(0x4A5054), 1.2))
                canvas.stroke(
                    from: knee, to: place + Vec2(side * size, -size * 0.15), width: size * 0.12,
                    tapering: size * 0.03, fogged(colour(0x4A5054), 1.2))
            }
        }
    }
}
