/// One of a picture's components, with the tables it is coded with.
struct Component: Sendable {
    /// Its blocks in an MCU, side by side: 1 or 2.
    let across: Int
    /// Its blocks in an MCU, one above the other: 1 or 2.
    let down: Int
    /// The step of each coefficient, in zigzag order, 64 of them.
    let quantisation: [UInt16]
    /// The code of the first coefficients.
    let first: HuffmanCode
    /// The code of all other coefficients.
    let other: HuffmanCode
}
