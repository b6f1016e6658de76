import Files
import Glibc

/// The result of work without a terminal, in a file until the next start of Vitrine shows it.
///
///     let report = UnattendedReport(in: locations.reportsFolder, atWork: "Vitrine saves …", interrupted: "Vitrine was …")
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
    /// The most bytes of a sentence. Names in it may be long.
    private static let longest = 4_096

    /// Creates the file. Returns nil on failure; the next start then shows nothing.
    ///
    /// - Parameters:
    ///   - atWork: a sentence to show while the work goes on.
    ///   - interrupted: a sentence to show if the process ends before it has a result.
    public init?(in folder: String, atWork: String, interrupted: String) {
        guard (try? SharedFile.makeFolder(folder)) != nil,
            let file = LockedFile(Self.newPath(folder), "\(interrupted)\n\(atWork)\n")
        else { return nil }
        (self.folder, self.file) = (folder, file)
    }

    /// Replaces the sentences by the result.
    public func end(_ result: String) {
        // If the disk is full, the next start shows that the work was interrupted.
        guard let last = LockedFile(Self.newPath(folder), result + "\n") else { return }
        file.remove()
        file = last
    }

    /// Returns the sentences of all reports. Removes those of work that has ended.
    public static func take(from folder: String) -> [String] {
        let endings = [ending, ending + LockedFile.unfinished]
        let paths = LockedFile.paths(in: folder) { name in endings.contains(where: name.hasSuffix) }
        return paths.compactMap { path in
            guard let (text, hasEnded) = LockedFile.take(path, atMost: longest), path.hasSuffix(ending) else {
                return nil
            }
            let lines = text.split(separator: "\n")
            return (hasEnded ? lines.first : lines.last).map(String.init)
        }
    }

    private static func newPath(_ folder: String) -> String {
        "\(folder)/\(getpid()).\(UInt32.random(in: 0...UInt32.max))\(ending)"
    }
}
