import Cells
import Testing

@testable import UI

@MainActor @Suite struct LinePromptTests {
    /// Otherwise, on a narrow screen, a long question would leave no room for the answer.
    @Test func halfOfTheLineIsForTheText() {
        let prompt = LinePrompt()
        prompt.begin("Save “A photo with a long name” to:", "/home/pictures")
        var surface = Surface(size: Size(columns: 40, rows: 1))
        prompt.draw(in: &surface, Rect(surface.size), Theme(Capabilities()))
        #expect(surface.text(inRow: 0) == " Save “A photo with … /home/pictures")
    }
}
