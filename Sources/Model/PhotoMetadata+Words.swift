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
        if let aperture, let number = MetadataText.number(aperture) { words += ["f\(number)", "f/\(number)"] }
        if let focalLength, let number = MetadataText.number(focalLength) { words += ["\(number)mm", "\(number) mm"] }
        if let iso { words += ["iso\(iso)", "iso \(iso)"] }
        if let time = exposure.flatMap(MetadataText.seconds) { words += ["\(time)s", "\(time) s"] }
        return words
    }
}
