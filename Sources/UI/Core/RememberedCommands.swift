import Logging
import Settings

/// Commands that were typed by their names, in this run and in earlier ones. Their file is read and written off the main
/// actor.
@MainActor
final class RememberedCommands {
    private(set) var history = CommandHistory()
    private let path: String
    private let log: Log
    /// The last that was begun to be done to the file. One follows the other, so that the newest line is the one that stays.
    private var work: Task<Void, Never>?

    init(_ context: ScreenContext) {
        path = context.commandsFile
        log = context.log
        work = Task { [weak self, path] in
            let kept = await Task.detached { (try? PrivateFile.read(path)).map { CommandHistory(text: $0) } }.value
            guard let self, var history = kept else { return }
            // What was typed meanwhile is newer.
            for line in self.history.lines { history.note(line) }
            self.history = history
        }
    }

    /// Takes in a line that was typed.
    func note(_ line: String) {
        let before = history
        history.note(line)
        guard history != before else { return }
        work = Task.detached { [previous = work, path, log] in
            await previous?.value
            do {
                // Another program may have written lines of its own.
                try PrivateFile.change(path) { text in
                    var history = CommandHistory(text: text ?? "")
                    history.note(line)
                    return history.text
                }
            } catch {
                log.error(.screen, "\(error)")
            }
        }
    }

    /// Returns when the file has what was typed.
    func settled() async { await work?.value }
}
