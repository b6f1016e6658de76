import Files
import Glibc
import Model

/// The result of work without a terminal, kept until the next start.
///
///     let report = UnattendedReport(
///         in: locations.reportsFolder, atWork: "Vitrine saves …", interrupted: "Vitrine was …")
///     …
///     report?.end("Saved 500 photos to ~/lake.")
///     …
///     for sentence in UnattendedReport.take(from: locations.reportsFolder) { notify(sentence) }
///
/// The working process keeps the file locked. An unlocked file therefore has the result, or the work was interrupted.
public final class UnattendedReport {
    private let folder: String
    private var file: LockedFile

    private static let ending = ".report"
    /// The maximum number of bytes of a sentence. File names in a sentence may be long.
    private static let longest = 1_500
    /// The maximum number of reports to show at once. Later starts show the others.
    private static let most = 10

    /// Creates the file. Returns nil on failure.
    ///
    /// - Parameters:
    ///   - atWork: a sentence to show while the process works.
    ///   - interrupted: a sentence to show if the process ends before it has a result.
    public init?(in folder: String, atWork: String, interrupted: String) {
        guard let file = Self.file(in: folder, [interrupted, atWork]) else { return nil }
        (self.folder, self.file) = (folder, file)
    }

    /// Replaces the sentences by the result. The caller has made control characters in the result visible.
    public func end(_ result: String) {
        // If the disk is full, the next start shows that the work was interrupted.
        guard let last = Self.file(in: folder, [result]) else { return }
        file.remove()
        file = last
    }

    /// Removes the file. The process calls this if there is no work to report.
    public func remove() { file.remove() }

    /// Returns the sentences of reports, and removes the reports of ended work.
    public static func take(from folder: String) -> [String] {
        let endings = [ending, ending + LockedFile.unfinished]
        guard access(folder, F_OK) == 0, let lock = try? SharedFile("\(folder)/lock") else { return [] }
        defer { withExtendedLifetime(lock) {} }
        let paths = LockedFile.paths(in: folder) { name in endings.contains(where: name.hasSuffix) }
        return paths.prefix(most).compactMap { path in
            guard let (text, hasEnded) = LockedFile.take(path, atMost: 2 * longest + 2), path.hasSuffix(ending) else {
                return nil
            }
            let lines = text.split(separator: "\n")
            return (hasEnded ? lines.first : lines.last).map(String.init)
        }
    }

    /// Creates a file with sentences, one on each line.
    private static func file(in folder: String, _ sentences: [String]) -> LockedFile? {
        let path = "\(folder)/\(getpid()).\(UInt32.random(in: 0...UInt32.max))\(ending)"
        // A reader would mistake a file that is not yet locked for the file of an ended process.
        guard let lock = try? SharedFile(path) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        let lines = sentences.map { sentence in
            let words = Address.withoutCredentials(sentence).split(whereSeparator: \.isNewline).joined(separator: " ")
            return words.cut(toBytes: longest) + "\n"
        }
        return LockedFile(path, lines.joined())
    }
}
