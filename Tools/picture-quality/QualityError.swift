/// The reason why pictures cannot be compared.
enum QualityError: Error, CustomStringConvertible {
    /// Another program's output has an unknown sequence.
    case unknownSequence(String)
    /// A character's shape is unknown.
    case unknownShape(Unicode.Scalar)
    /// A photo has no pixels.
    case noPixels

    var description: String {
        switch self {
        case .unknownSequence(let text): "Unknown sequence in the text: \(text)."
        case .unknownShape(let character): "The shape of “\(character)” is unknown."
        case .noPixels: "A photo has no pixels."
        }
    }
}
