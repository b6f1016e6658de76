import Pixels

/// How the tones of a picture are spread: how many of its pixels have each of the 256 levels, in all and of each colour.
public struct Histogram: Hashable, Sendable {
    /// What levels are of.
    public enum Channel: Int, Hashable, Sendable, CaseIterable {
        /// How bright a pixel is to the eye.
        case luminance
        /// One of its three colours.
        case red, green, blue
    }

    /// Levels of a channel.
    public static let levels = 256

    /// The counts of all channels, one after the other.
    private let counts: [UInt32]

    /// Counts the pixels of a picture.
    init(_ picture: PixelBuffer) {
        var counts = [UInt32](repeating: 0, count: Self.levels * Channel.allCases.count)
        picture.bytes.withUnsafeBufferPointer { bytes in
            counts.withUnsafeMutableBufferPointer { counts in
                for pixel in stride(from: 0, to: bytes.count, by: PixelBuffer.bytesPerPixel) {
                    let (red, green, blue) = (Int(bytes[pixel]), Int(bytes[pixel + 1]), Int(bytes[pixel + 2]))
                    // The weights of BT.601, in 256ths.
                    counts[(77 * red + 150 * green + 29 * blue) >> 8] += 1
                    counts[Self.levels + red] += 1
                    counts[2 * Self.levels + green] += 1
                    counts[3 * Self.levels + blue] += 1
                }
            }
        }
        self.counts = counts
    }

    /// How many pixels have a level.
    public func count(_ channel: Channel, _ level: Int) -> Int {
        Int(counts[channel.rawValue * Self.levels + level])
    }

    /// The levels of a channel gathered into so many bars from dark to bright, each from 0 to 1, the highest of them 1.
    ///
    /// They are the roots of what they stand for: a white sky would else leave nothing to be seen of the rest. With more bars
    /// than levels, neighbours share one.
    public func bars(_ channel: Channel, _ count: Int) -> [Double] {
        guard count > 0 else { return [] }
        let sums = (0..<count).map { bar in
            let first = bar * Self.levels / count
            let last = max(first, (bar + 1) * Self.levels / count - 1)
            // As many levels fall to one bar as to another, or else one would stand out for having more.
            return Double((first...last).reduce(0) { $0 + self.count(channel, $1) }) / Double(last - first + 1)
        }
        guard let highest = sums.max(), highest > 0 else { return sums }
        return sums.map { ($0 / highest).squareRoot() }
    }
}
