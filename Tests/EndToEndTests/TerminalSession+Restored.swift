import Foundation
import TestSupport
import Testing

extension TerminalSession {
    /// Checks that modes and screen are restored and that no queries are left.
    func expectRestored(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!screen.isAlternate && screen.isCursorVisible, sourceLocation: sourceLocation)
        #expect(screen.modes.isDisjoint(with: [2004, 1004, 1002, 1006]), sourceLocation: sourceLocation)
        #expect(screen.violations.isEmpty, sourceLocation: sourceLocation)
        var (now, then) = (modes, original)
        #expect(memcmp(&now, &then, MemoryLayout<termios>.size) == 0, sourceLocation: sourceLocation)
    }

    /// Waits until the screen looks like this and stays so.
    func expectShows(_ cells: [[VirtualScreen.Cell]], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(until { $0.isAlternate && $0.allCells == cells }, sourceLocation: sourceLocation)
        untilQuiet()
        #expect(screen.allCells == cells, sourceLocation: sourceLocation)
    }
}
