/// The text of sixels as it grows, no longer than it has to be.
struct SixelText {
    private(set) var bytes: [UInt8] = []
    /// The colour that was taken up last.
    private var colour = -1

    mutating func write(_ text: String) { bytes += text.utf8 }

    /// Goes to the next six rows.
    mutating func endBand() { bytes.append(UInt8(ascii: "-")) }

    /// Goes back to the left edge of the same six.
    mutating func goBack() { bytes.append(UInt8(ascii: "$")) }

    mutating func take(colour new: Int) {
        guard new != colour else { return }
        colour = new
        bytes.append(UInt8(ascii: "#"))
        write(number: new)
    }

    /// Writes a column so many times.
    mutating func write(column: UInt8, times: Int) {
        let character = 0x3F + column
        if times > 3 {
            bytes.append(UInt8(ascii: "!"))
            write(number: times)
            bytes.append(character)
        } else {
            for _ in 0..<times { bytes.append(character) }
        }
    }

    private mutating func write(number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
