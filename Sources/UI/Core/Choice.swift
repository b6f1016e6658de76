/// One of several answers to a question.
public struct Choice {
    /// The key that gives it, as a small letter.
    let key: Character
    /// What it means, in a few words.
    let word: String
    /// What is done then.
    let action: @MainActor () -> Void

    init(_ key: Character, _ word: String, _ action: @escaping @MainActor () -> Void) {
        (self.key, self.word, self.action) = (key, word, action)
    }
}
