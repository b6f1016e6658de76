/// The samples of one component in a row of MCUs, and where decoding it stands.
struct Plane {
    /// Row by row; see `ComponentPlan.stride`.
    var samples: [UInt8]
    /// The first coefficient of the last block, in steps: what the next is relative to.
    var prediction: Int32 = 0

    init(_ plan: ComponentPlan) {
        samples = [UInt8](repeating: 0, count: plan.stride * plan.down * plan.blockHeight)
    }

    /// Decodes the component's share in the MCU of that column. `false` if the data are damaged.
    mutating func decode(
        column: Int, _ plan: ComponentPlan, _ words: [UInt32], _ reader: inout BlockReader,
        _ transform: inout InverseTransform
    ) -> Bool {
        for down in 0..<plan.down {
            for across in 0..<plan.across {
                let x = (column &* plan.across &+ across) &* plan.blockWidth
                let start = down &* plan.blockHeight &* plan.stride &+ x
                if plan.blockWidth == 1, plan.blockHeight == 1 {
                    guard reader.readFirst(words, plan.first, plan.other, &prediction) else { return false }
                    let coefficient = prediction &* Int32(bitPattern: plan.steps[0] &>> 6)
                    samples[start] = InverseTransform.sample(ofFirst: coefficient)
                } else {
                    let places = reader.read(
                        words, plan.first, plan.other, plan.steps, &prediction, into: &transform.coefficients)
                    guard places != 0 else { return false }
                    transform.transform(
                        places, width: plan.blockWidth, height: plan.blockHeight, to: &samples, at: start,
                        stride: plan.stride)
                }
            }
        }
        return true
    }
}
