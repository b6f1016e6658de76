import Commands
import Model
import Settings

/// Commands by their names, typed over whatever screen there is.
extension RootScreen {
    func openCommandLine() {
        let entries = context.keys.entries(in: top.commandScopes)
        let prompt = CommandPrompt(entries, remembered: remembered)
        prompt.onEnter = { [weak self] in
            self?.commandLine = nil
            self?.perform($0, among: entries)
        }
        prompt.onEscape = { [weak self] in self?.commandLine = nil }
        commandLine = prompt
        onNeedsDisplay()
    }

    private func perform(_ line: String, among entries: [CommandTable.Entry]) {
        guard !line.allSatisfy(\.isWhitespace) else { return }
        remembered.note(line)
        do throws(CommandsError) {
            let typed = try TypedCommand(line, among: entries)
            top.focus.send(.command(typed.command, typed.argument))
        } catch {
            tell(error.description)
        }
    }

    /// Opens a gallery that was typed: an address, a file or a folder.
    func open(typed text: String) {
        do throws(AddressError) {
            open(try Address(typed: text, home: context.home, currentFolder: context.currentFolder))
        } catch {
            tell(error.description)
        }
    }
}
