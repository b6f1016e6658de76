import Foundation

/// A desktop's message bus with an unlocked keyring for one user's home, without windows.
public final class DesktopSession {
    private let bus: ChildProcess
    private let keyring: ChildProcess
    private let folder = TestFolder()

    private static let programs = ["/usr/bin/dbus-daemon", "/usr/bin/dbus-send", "/usr/bin/gnome-keyring-daemon"]

    /// Whether the required programs are installed.
    public static var isPossible: Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private struct NotStarted: Error {}

    /// Starts the session. The keyring accepts requests when this returns.
    public init(_ home: Household) throws {
        let socket = "unix:path=\(folder.path("bus"))"
        environment = ["DBUS_SESSION_BUS_ADDRESS": socket, "XDG_RUNTIME_DIR": folder.path]
        let variables = home.environment(environment)
        let (address, password) = (try ChildProcess.makePipe(), try ChildProcess.makePipe())
        bus = try ChildProcess(
            Self.programs[0], ["--session", "--nofork", "--nopidfile", "--address=\(socket)", "--print-address=1"],
            environment: variables, output: address.writing)
        close(address.writing)
        // The bus prints its address when it listens.
        var byte: UInt8 = 0
        guard read(address.reading, &byte, 1) == 1 else { throw NotStarted() }
        close(address.reading)
        keyring = try ChildProcess(
            Self.programs[2], ["--foreground", "--unlock", "--components=secrets"], environment: variables,
            input: password.reading)
        close(password.reading)
        write(password.writing, "keyring", 7)
        close(password.writing)
        // A request before the keyring has registered would start a second, locked keyring.
        for _ in 0..<1_000 {
            let owner = try Command(
                Self.programs[1],
                [
                    "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                    "org.freedesktop.DBus.NameHasOwner",
                    "string:org.freedesktop.secrets",
                ], environment: variables)
            if owner.text.contains("boolean true") { return }
        }
        throw NotStarted()
    }

    deinit {
        keyring.end()
        bus.end()
    }

    /// The variables that connect a program to the session.
    public let environment: [String: String]
}
