import Pixels

/// The number of pixels at each of 256 levels, for luminance and each colour.
public struct Histogram: Hashable, Sendable {
    /// A quantity whose levels the histogram counts.
    public enum Channel: Int, Hashable, Sendable, CaseIterable {
        /// The brightness as the eye sees it.
        case luminance
        /// The amount of one of the three colours.
        case red, green, blue
    }

    /// The number of levels of a channel.
    public static let levels = 256

    /// The counts of all channels, one channel after the other.
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

    /// Returns the number of pixels at a level of a channel.
    public func count(_ channel: Channel, _ level: Int) -> Int {
        Int(counts[channel.rawValue * Self.levels + level])
    }

    /// Combines the levels of a channel into bars from dark to bright. The highest bar is 1.
    ///
    /// A bar's height is proportional to the square root of its count. Otherwise, a white sky would flatten all other
    /// bars. With more bars than levels, neighbouring bars share a level.
    public func bars(_ channel: Channel, _ count: Int) -> [Double] {
        guard count > 0 else { return [] }
        let sums = (0..<count).map { bar in
            let first = bar * Self.levels / count
            let last = max(first, (bar + 1) * Self.levels / count - 1)
            // Bars may contain different numbers of levels, so each bar shows the average per level.
            return Double((first...last).reduce(0) { $0 + self.count(channel, $1) }) / Double(last - first + 1)
        }
        guard let highest = sums.max(), highest > 0 else { return sums }
        return sums.map { ($0 / highest).squareRoot() }
    }
}
