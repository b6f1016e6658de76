/// Colours of a picture that lie together, and how far apart they are.
struct ColourBox {
    /// One of them.
    struct Member {
        /// Its number in the histogram.
        let bin: Int
        /// How many pixels have it.
        let weight: Float
        /// What it is on average: red, green, blue.
        let colour: SIMD4<Float>

        init(_ number: Int, _ bin: ColourHistogram.Bin) {
            self.bin = number
            weight = Float(bin.count)
            colour = SIMD4(Float(bin.sum.red), Float(bin.sum.green), Float(bin.sum.blue), 0) / weight
        }
    }

    /// Where its colours are among all.
    let range: Range<Int>
    /// By how much its pixels differ from the mean in the channel in which they do most, squared and summed up.
    let spread: Float
    private let centre: SIMD4<Float>
    private let channel: Int

    init(_ members: [Member], _ range: Range<Int>) {
        self.range = range
        var (weight, sum) = (Float(0), SIMD4<Float>.zero)
        for member in members[range] {
            weight += member.weight
            sum += member.colour * member.weight
        }
        centre = weight > 0 ? sum / weight : .zero
        var squares = SIMD4<Float>.zero
        for member in members[range] {
            let difference = member.colour - centre
            squares += difference * difference * member.weight
        }
        channel = squares.x >= squares.y ? (squares.x >= squares.z ? 0 : 2) : squares.y >= squares.z ? 1 : 2
        spread = range.count > 1 ? squares[channel] : 0
    }

    /// The mean colour.
    var mean: PartColour {
        let rounded = centre.rounded(.toNearestOrAwayFromZero)
        return PartColour(red: Int32(rounded.x), green: Int32(rounded.y), blue: Int32(rounded.z))
    }

    /// Cuts it in two, for which its members are put in order: first those below the mean.
    func halves(_ members: inout [Member]) -> (ColourBox, ColourBox) {
        let limit = centre[channel]
        let cut = members[range].partition { $0.colour[channel] > limit }
        // Rounding may have put all on one side.
        let middle = min(max(cut, range.lowerBound + 1), range.upperBound - 1)
        return (
            ColourBox(members, range.lowerBound..<middle), ColourBox(members, middle..<range.upperBound)
        )
    }
}
