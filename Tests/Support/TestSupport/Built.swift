import Foundation

/// Paths of built programs, and of files in the repository.
public enum Built {
    /// The folder of built programs, which also contains the test program.
    public static let folder = URL(
        fileURLWithPath: try! FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    ).deletingLastPathComponent().path

    /// The program.
    public static let vitrine = folder + "/vitrine"

    /// The TestGallery.
    public static let testGallery = checkout + "/TestGallery"

    /// The table of towns.
    public static let towns = checkout + "/Tools/Towns/towns.table"

    /// The servers from PyPI, which `Tools/Scripts/install-packages test` installs.
    public static let testServers = checkout + "/.build/test-servers"

    private static let checkout =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
}
