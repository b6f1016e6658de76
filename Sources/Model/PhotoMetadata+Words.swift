extension PhotoMetadata {
    /// What photos are searched by, beside their names: texts as they are, numbers as people type them.
    ///
    /// Whoever searches takes what was typed apart at everything that is neither letter nor digit, as was done with these
    /// words. So `f2.8` is looked for as `f2` and `8`, `f/2.8` as `f`, `2` and `8`, `ISO 400` as `iso` and `400`; and each
    /// number is here in every way in which it is written.
    public var words: String {
        let texts = [title, description, camera, lens].compactMap { $0 }
        return (texts + numbers).joined(separator: "\n")
    }

    private var numbers: [String] {
        var words: [String] = []
        if let aperture, let number = Self.text(aperture) { words += ["f\(number)", "f/\(number)"] }
        if let focalLength, let number = Self.text(focalLength) { words += ["\(number)mm", "\(number) mm"] }
        if let iso { words += ["iso\(iso)", "iso \(iso)"] }
        if let time = exposure.flatMap(Self.time) { words += ["\(time)s", "\(time) s"] }
        return words
    }

    /// Two decimals at most, and none that say nothing: `2.8`, `50`. Nil for what no lens has.
    private static func text(_ number: Double) -> String? {
        guard (0...1e6).contains(number) else { return nil }
        let hundredths = Int((number * 100).rounded())
        var decimals = "\(100 + hundredths % 100)".dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(hundredths / 100)" : "\(hundredths / 100).\(decimals)"
    }

    /// `1/250`, or seconds, as cameras show it.
    private static func time(_ seconds: Double) -> String? {
        seconds > 1e-9 && seconds < 0.3 ? "1/\(Int((1 / seconds).rounded()))" : text(seconds)
    }
}
