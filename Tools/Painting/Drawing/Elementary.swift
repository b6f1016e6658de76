// Elementary functions made of additions, multiplications and bit patterns only.
//
// The C library chooses among several versions of `sin` or `pow` by processor, and the compiler may evaluate some
// calls with yet another; their last bits differ. The pictures must have the same bytes on every machine, so these
// functions shadow the C library's within this module. About six digits are correct, more than an eight-bit picture
// can show.

/// Returns the greatest integer not above `x`, for numbers as small as coordinates.
@inline(__always)
func wholePart(_ x: Float) -> Int32 {
    let truncated = Int32(x)
    return Float(truncated) > x ? truncated - 1 : truncated
}

/// Returns the fractional part of `x`, from 0 up to but not including 1.
@inline(__always)
func fract(_ x: Float) -> Float {
    x - Float(wholePart(x))
}

/// Returns the remainder of `x` divided by `period`, never negative.
func wrap(_ x: Float, _ period: Float) -> Float {
    fract(x / period) * period
}

/// Returns the sine of an angle in radians.
func sin(_ x: Float) -> Float {
    let halfTurns = wholePart(x * (1 / Float.pi) + 0.5)
    // Half a turn in two parts, so that subtracting many loses no digits.
    let r = (x - Float(halfTurns) * 3.140625) - Float(halfTurns) * 9.676_536e-4
    let q = r * r
    let series =
        1 + q
        * (-1.666_666_7e-1 + q * (8.333_333e-3 + q * (-1.984_127e-4 + q * (2.755_732e-6 - q * 2.505_2e-8))))
    return halfTurns & 1 == 0 ? r * series : -r * series
}

/// Returns the cosine of an angle in radians.
func cos(_ x: Float) -> Float {
    sin(x + Float.pi / 2)
}

/// Returns two to the power of `x`.
func exp2(_ x: Float) -> Float {
    guard x > -126 else { return 0 }
    guard x < 127 else { return Float.greatestFiniteMagnitude }
    let whole = wholePart(x + 0.5)
    let f = (x - Float(whole)) * 0.693_147_18
    let series = 1 + f * (1 + f * (0.5 + f * (0.166_666_67 + f * (0.041_666_67 + f * 0.008_333_33))))
    return series * Float(bitPattern: UInt32(whole + 127) << 23)
}

/// Returns e to the power of `x`.
func exp(_ x: Float) -> Float {
    exp2(x * 1.442_695)
}

/// Returns the binary logarithm of a positive number.
func log2(_ x: Float) -> Float {
    let bits = max(x, Float.leastNormalMagnitude).bitPattern
    var exponent = Int32(bits >> 23) - 127
    var mantissa = Float(bitPattern: (bits & 0x7F_FFFF) | 0x3F80_0000)
    if mantissa > 1.414_213_6 {
        mantissa *= 0.5
        exponent += 1
    }
    let s = (mantissa - 1) / (mantissa + 1)
    let q = s * s
    return Float(exponent) + s * (2.885_39 + q * (0.961_796_7 + q * (0.577_078 + q * (0.412_199 + q * 0.32))))
}

/// Returns the natural logarithm of a positive number.
func log(_ x: Float) -> Float {
    log2(x) * 0.693_147_18
}

/// Returns `x` to the power of `y`, for `x` of 0 or more.
func pow(_ x: Float, _ y: Float) -> Float {
    x <= 0 ? 0 : exp2(y * log2(x))
}

/// Returns the angle of the point (`x`, `y`) seen from the origin, from −π to π.
func atan2(_ y: Float, _ x: Float) -> Float {
    let ax = abs(x)
    let ay = abs(y)
    guard max(ax, ay) > 0 else { return 0 }
    var t = min(ax, ay) / max(ax, ay)
    let shifted = t > 0.414_213_56
    if shifted { t = (t - 1) / (t + 1) }
    let q = t * t
    let tail = 0.142_857_14 - q * (0.111_111_11 - q * (0.090_909_09 - q * 0.076_923_08))
    var angle = t * (1 - q * (0.333_333_33 - q * (0.2 - q * tail)))
    if shifted { angle += Float.pi / 4 }
    if ay > ax { angle = Float.pi / 2 - angle }
    if x < 0 { angle = Float.pi - angle }
    return y < 0 ? -angle : angle
}
