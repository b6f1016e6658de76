import Cells
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures
@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoPanelTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// A photo with the usual metadata, and a control sequence in it.
    private func portrait() -> [UInt8] {
        var file = PNGFile(.scene(width: 160, height: 120))
        var exif = ExifFile()
        exif.main = [(0x010F, .text("FUJIFILM")), (0x0110, .text("X-T4\u{1B}[2J"))]
        exif.exif = [
            (0x829A, .rationals([(1, 250)])), (0x829D, .rationals([(56, 10)])), (0x8827, .short(400)),
            (0x920A, .rationals([(50, 1)])),
        ]
        exif.gps = [
            (0x0001, .text("S")), (0x0002, .rationals([(12, 1), (30, 1), (0, 1)])),
            (0x0003, .text("E")), (0x0004, .rationals([(45, 1), (15, 1), (0, 1)])),
        ]
        file.chunks = [("eXIf", exif.tiff)]
        return file.bytes
    }

    private func open(_ size: Size) async throws {
        screens.size = size
        try await screens.sync(["a", "b"])
        try await screens.store(portrait(), as: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        _ = screens.frame()
    }

    @Test func aNumberGoesToALine() async throws {
        try await open(Size(columns: 80, rows: 24))
        let fields = (0..<30).map { PhotoExamination.Field(name: "Field \($0)", value: "\($0)") }
        let report = PhotoReport(photo: try screens.photo("a"), metadata: nil, fields: fields)
        var (panel, surface) = (PhotoPanel(), Surface(size: Size(columns: 40, rows: 10)))
        func draw() { panel.draw(report, nil, screens.context, in: &surface) }
        panel.takeAll(Rect(surface.size))
        let scrollsFacts = panel.goTo(line: 5)
        #expect(!scrollsFacts)
        _ = panel.perform(.information)
        draw()
        #expect(surface.text(inRow: 1) == " Photo a")
        _ = panel.goTo(line: 5)
        draw()
        #expect(surface.text(inRow: 1) == "   0")
        _ = panel.goTo(line: 900)
        draw()
        #expect(surface.text(inRow: 9) == "   29")
    }

    @Test("BEHAVIOURS 3.5: a panel beside the picture shows the photo's facts")
    func facts() async throws {
        try await open(Size(columns: 120, rows: 50))
        screens.press("i")
        try await screens.until {
            screens.text.contains("1/250 s, f/5.6, 50 mm, ISO 400") && screens.text.contains("█")
        }
        let text = screens.text
        for words in ["Photo a", "FUJIFILM X-T4␛[2J", "160 × 120", "PNG, ", "12.50000° S, 45.25000° E"] {
            #expect(text.contains(words), "\(words)")
        }
        // The address is complete, on several lines.
        let column = screens.size.columns - 42 + 2
        let panel = (1..<49).map { row in
            screens.frame().row(row).dropFirst(column).map(\.text).joined()
        }.joined()
        let link = "https://www.openstreetmap.org/?mlat=-12.50000&mlon=45.25000#map=15/-12.50000/45.25000"
        #expect(panel.filter { $0 != " " }.contains(link))
        // The histogram shows the brightness and each colour.
        for letter in ["L", "R", "G", "B"] { #expect(panel.contains("\(letter) ")) }
        screens.press("i", "i")
        #expect(!screens.text.contains("1/250") && !screens.text.contains("│"))
    }

    @Test(
        "BEHAVIOURS 3.5: on a narrow screen the facts are below the picture",
        arguments: [
            Size(columns: 80, rows: 24), Size(columns: 40, rows: 12),
        ])
    func below(size: Size) async throws {
        try await open(size)
        screens.press("i")
        try await screens.until { screens.text.contains("1/250 s") }
        let rule = (0..<size.rows).first { screens.frame().text(inRow: $0).hasPrefix("────") }
        #expect(rule.map { $0 >= size.rows / 2 - 1 } == true)
        // The picture fits into the remaining space.
        #expect(screens.title.hasSuffix("fit"))
    }

    @Test("BEHAVIOURS 3.5: the panel scrolls through all metadata, with visible control characters")
    func everything() async throws {
        try await open(Size(columns: 80, rows: 24))
        screens.press("i", "i")
        try await screens.until { screens.text.contains("Photo a") && screens.text.contains("1/250 s") }
        try await screens.until {
            screens.press("G")
            return screens.text.contains("12") && !screens.text.contains("Photo a\n")
        }
        let last = screens.text
        screens.press("g")
        #expect(screens.text != last && screens.text.contains("1/250 s"))
        var seen = ""
        for _ in 0..<40 {
            seen += screens.text
            screens.press("j")
        }
        #expect(seen.contains("All metadata") && seen.contains("X-T4␛[2J"))
        // Other keys still go to the next photo.
        screens.press("]")
        #expect(screens.title.hasPrefix(" Photo b "))
    }

    @Test func theSmallestScreenShowsFacts() async throws {
        try await open(Size(columns: 20, rows: 5))
        screens.press("i")
        let frame = screens.frame()
        #expect(frame.text(inRow: 2) == " Photo a" && frame.text(inRow: 3).hasPrefix(" Date     unknown"))
    }

    @Test func anUncachedPhotoHasFewFacts() async throws {
        try await open(Size(columns: 120, rows: 40))
        screens.press("i", "]")
        let text = screens.text
        #expect(text.contains("Date") && !text.contains("1/250") && !text.contains("█"))
    }

    @Test func theFactsOfAnOlderEditionStayUntilTheNewOneArrives() async throws {
        try await open(Size(columns: 120, rows: 40))
        screens.press("i")
        try await screens.until { screens.text.contains("1/250 s") }
        try await screens.until { try screens.cache.read { try $0.metadata(of: screens.photo("a").key) } != nil }
        try await screens.sync([TestScreens.entry("a", date: 9)])
        try await screens.until { screens.title.hasSuffix("1 of 1 · fit") }
        #expect(screens.text.contains("1/250 s"))
    }

    @Test(arguments: [true, false]) func barsAreAsHighAsTheirCounts(isPlain: Bool) {
        var surface = Surface(size: Size(columns: 18, rows: 24))
        // A ramp has the same number of pixels for each tone.
        let ramp = PixelBuffer(width: 256, height: 1) { x, _ in
            PixelColor(red: UInt8(x), green: 0, blue: 255)
        }
        let drawing = HistogramDrawing(theme: Theme(Capabilities(unicode: !isPlain)))
        drawing.draw(Histogram(ramp), in: &surface, Rect(surface.size))
        let full = isPlain ? "#" : "█"
        #expect(surface.text(inRow: 6) == "  " + String(repeating: full, count: 16))
        #expect(surface.text(inRow: 11) == "R " + String(repeating: full, count: 16))
        #expect(surface.text(inRow: 12) == "  " + full && surface.text(inRow: 23).hasSuffix(" " + full))
        // A low frame shows nothing.
        var low = Surface(size: Size(columns: 18, rows: 3))
        drawing.draw(Histogram(ramp), in: &low, Rect(low.size))
        #expect(low.text.allSatisfy { $0 == "\n" })
    }

    @Test func foldingBreaksLongWords() {
        #expect("see https://example.org/a now".folded(toWidth: 10) == ["see", "https://ex", "ample.org/", "a", "now"])
        #expect("".folded(toWidth: 10).isEmpty && "abc".folded(toWidth: 0).isEmpty)
        #expect("漢字漢".folded(toWidth: 3) == ["漢", "字", "漢"])
    }
}
