/// Eight coefficients to eight, four or two samples, in one dimension: the halves of the two-dimensional transform.
///
/// With T.81's transform (A.3.3) times 2√2 the samples are
///
///     s(n) = X0 + Σ √2 cos((2n + 1) k π/16) Xk,  k = 1 ... 7
///
/// which leaves X0 and X4 as they are where they come first. The sum over even k is the same at both ends of the row, that
/// over odd k the opposite. The mean of two neighbours only changes the factors,
///
///     √2 cos(k π/16) cos((4n + 2) k π/16)
///
/// of which that of X4 is 0, and the mean of four loses X2 and X6 as well:
///
///     √2 cos(k π/16) cos(2 k π/16) cos((8n + 4) k π/16)
///
/// All factors, and so the results, are in 8192nds.
enum Butterfly {
    static let bits: Int32 = 13

    @inline(__always)
    static func eight(
        _ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32, _ x4: Int32, _ x5: Int32, _ x6: Int32, _ x7: Int32
    ) -> (Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32) {
        let sum = (x0 &+ x4) &<< bits
        let difference = (x0 &- x4) &<< bits
        let outer = x2 &* 10703 &+ x6 &* 4433
        let inner = x2 &* 4433 &- x6 &* 10703
        let (even0, even1, even2, even3) = (sum &+ outer, difference &+ inner, difference &- inner, sum &- outer)
        let odd0 = x1 &* 11363 &+ x3 &* 9633 &+ x5 &* 6436 &+ x7 &* 2260
        let odd1 = x1 &* 9633 &- x3 &* 2260 &- x5 &* 11363 &- x7 &* 6436
        let odd2 = x1 &* 6436 &- x3 &* 11363 &+ x5 &* 2260 &+ x7 &* 9633
        let odd3 = x1 &* 2260 &- x3 &* 6436 &+ x5 &* 9633 &- x7 &* 11363
        return (
            even0 &+ odd0, even1 &+ odd1, even2 &+ odd2, even3 &+ odd3,
            even3 &- odd3, even2 &- odd2, even1 &- odd1, even0 &- odd0
        )
    }

    @inline(__always)
    static func four(
        _ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32, _ x5: Int32, _ x6: Int32, _ x7: Int32
    ) -> (Int32, Int32, Int32, Int32) {
        let mean = x0 &<< bits
        let slope = x2 &* 7568 &- x6 &* 3135
        let odd0 = x1 &* 10498 &+ x3 &* 3686 &- x5 &* 2463 &- x7 &* 2088
        let odd1 = x1 &* 4348 &- x3 &* 8900 &+ x5 &* 5946 &- x7 &* 865
        return (mean &+ slope &+ odd0, mean &- slope &+ odd1, mean &- slope &- odd1, mean &+ slope &- odd0)
    }

    @inline(__always)
    static func two(_ x0: Int32, _ x1: Int32, _ x3: Int32, _ x5: Int32, _ x7: Int32) -> (Int32, Int32) {
        let mean = x0 &<< bits
        let odd = x1 &* 7423 &- x3 &* 2607 &+ x5 &* 1742 &- x7 &* 1477
        return (mean &+ odd, mean &- odd)
    }
}
