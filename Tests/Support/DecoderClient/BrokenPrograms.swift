import Pictures

/// Broken programs used as decoders in turn.
struct BrokenPrograms {
    private let hanging: [String]
    private let others: [String]

    /// Milliseconds for programs that hang, which use all of them.
    private static let littleTime: Int32 = 200

    init(hanging: some Sequence<String>, others: some Sequence<String>) {
        self.hanging = Array(hanging)
        self.others = Array(others)
    }

    /// Returns the path of the next one.
    func path(_ turn: Int) -> String {
        let number = turn % (hanging.count + others.count)
        return number < hanging.count ? hanging[number] : others[number - hanging.count]
    }

    func client(_ turn: Int, from origin: DecoderClient.Origin) -> DecoderClient {
        let path = path(turn)
        return hanging.contains(path)
            ? DecoderClient(path: path, budget: Self.littleTime, from: origin) : DecoderClient(path: path, from: origin)
    }
}
