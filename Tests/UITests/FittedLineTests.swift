import Testing

@testable import UI

struct FittedLineTests {
    private let line: FittedLine = {
        var line = FittedLine()
        line.add("example.org/an/album", least: 8)
        line.add("12 photos", isOptional: true)
        line.add(nil)
        line.add("Updated: today")
        line.add("3 MB", isOptional: true)
        return line
    }()

    @Test("A line first cuts its long part, and then drops optional parts, the last first")
    func givesWay() {
        #expect(line.text(width: 80) == "example.org/an/album · 12 photos · Updated: today · 3 MB")
        #expect(line.text(width: 50) == "example.org/a… · 12 photos · Updated: today · 3 MB")
        #expect(line.text(width: 40) == "example.or… · 12 photos · Updated: today")
        #expect(line.text(width: 30) == "example.org/… · Updated: today")
        #expect(line.text(width: 10) == "example… …")
        #expect(line.text(width: 0).isEmpty && FittedLine().text(width: 9).isEmpty)
    }
}
