import Cells
import Commands

/// The number that the user types before the key of a command: `5j`, `10G`.
struct TypedNumber {
    /// The number so far; nil before the first digit.
    private(set) var value: Int?

    /// Adds a key to the number. Returns false if the key is not a digit, or is a zero at the beginning.
    mutating func take(_ key: Key) -> Bool {
        guard case .character(let character) = key.code, key.modifiers.isEmpty, character.isASCII,
            let digit = character.wholeNumberValue, value != nil || digit > 0
        else { return false }
        value = min((value ?? 0) * 10 + digit, CommandArgument.largestNumber)
        return true
    }

    /// Returns the number and resets it.
    mutating func end() -> Int? {
        defer { value = nil }
        return value
    }
}
