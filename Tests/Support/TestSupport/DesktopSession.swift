import Foundation

/// A desktop's message bus with a keyring on it that is unlocked, for one user's home; nobody sees a window of it.
public final class DesktopSession {
    private let bus: ChildProcess
    private let keyring: ChildProcess
    private let folder = TestFolder()

    private static let programs = ["/usr/bin/dbus-daemon", "/usr/bin/dbus-send", "/usr/bin/gnome-keyring-daemon"]

    /// Whether there are the programs for it.
    public static var isPossible: Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private struct NotStarted: Error {}

    /// Starts it. The keyring can be asked when this returns.
    public init(_ home: Household) throws {
        let socket = "unix:path=\(folder.path("bus"))"
        environment = ["DBUS_SESSION_BUS_ADDRESS": socket, "XDG_RUNTIME_DIR": folder.path]
        let variables = home.environment(environment)
        let (address, password) = (try ChildProcess.makePipe(), try ChildProcess.makePipe())
        bus = try ChildProcess(
            Self.programs[0], ["--session", "--nofork", "--nopidfile", "--address=\(socket)", "--print-address=1"],
            environment: variables, output: address.writing)
        close(address.writing)
        // It says where it listens when it does.
        var byte: UInt8 = 0
        guard read(address.reading, &byte, 1) == 1 else { throw NotStarted() }
        close(address.reading)
        keyring = try ChildProcess(
            Self.programs[2], ["--foreground", "--unlock", "--components=secrets"], environment: variables,
            input: password.reading)
        close(password.reading)
        write(password.writing, "keyring", 7)
        close(password.writing)
        // Who asks for it before it is there would have another one started, a locked one.
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

    /// What leads a program to it.
    public let environment: [String: String]
}
