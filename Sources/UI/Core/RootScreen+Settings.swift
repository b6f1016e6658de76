import Settings

/// Settings that change while the program runs.
extension RootScreen {
    /// The user has set things anew: what can hold at once does, and of the rest it is said that it cannot.
    public func adopt(_ settings: Settings) {
        let (adopted, waiting) = context.settings.adopting(settings)
        context.settings = adopted
        adaptTimer()
        guard !waiting.isEmpty else { return tell("The settings are read again.") }
        let names = waiting.map { "“\($0)”" }.joined(separator: ", ")
        tell("The settings are read again; from the next start: \(names).")
    }
}
