import Glibc
import Logging

/// Writes a log in memory and into a file:
///
///     swift run example-logging FILE
@main
enum LoggingExample {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: example-logging FILE")
            exit(2)
        }
        let file = try LogFile(path: CommandLine.arguments[1])
        // The log keeps the last three entries in memory; the file receives all.
        let log = Log(capacity: 3, level: .info, file: file)
        log.info(.sync, "The update began.")
        // A message below the level is not even built.
        log.debug(.network, costly("a detail"))
        log.setEnabled(false, for: .cache)
        log.info(.cache, "A subsystem that is switched off is silent.")
        log.error(.network, "The server sent a name with a control character: \u{1B}[31m")
        for number in 1...3 { log.info(.sync, "Photo \(number) is new.") }

        for entry in log.entries {
            print("\(entry.sequence) \(entry.level.name) \(entry.subsystem.name): \(entry.message)")
        }
        file.flush()
    }

    private static func costly(_ text: String) -> String {
        print("This message is built.")
        return text
    }
}
