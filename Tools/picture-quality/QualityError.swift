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
        case .unknownSequence(let text): "There is a sequence in the text that is not known: \(text)."
        case .unknownShape(let character): "What “\(character)” looks like is not known."
        case .noPixels: "A photo has no pixels."
        }
    }
}
