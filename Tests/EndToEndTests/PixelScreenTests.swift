import Foundation
import TestSupport
import Testing

/// Pictures in a pixel terminal, as a user sees them.
@Suite(.ownThread, .serialized) struct PixelScreenTests {
    private let home = Household()

    /// Opens the gallery offline with a full cache, so that no update changes the screen between two pictures of it.
    private func browse() throws -> Xterm {
        let gallery = Built.testGallery + "/index.xml"
        try #require(home.vitrine("sync", "--photos", gallery).status == 0)
        return try Xterm([Built.vitrine, "--offline", gallery], environment: home.environment(term: "xterm"))
    }

    /// Text has a dozen colours here; each photo has a palette of up to 256.
    private func hasPictures(_ pixels: [UInt8]) -> Bool { Xterm.hasColours(pixels, moreThan: 60) }

    /// - Parameter former: the screen before the keys, which must have changed it.
    @discardableResult
    private func expectSameWhenRedrawn(_ screen: Xterm, _ what: String, after former: [UInt8] = []) throws -> [UInt8] {
        let before = try screen.still { hasPictures($0) && $0 != former }
        let hasAny = hasPictures(before)
        #expect(hasAny, "\(what)")
        try screen.press(["ctrl+l"])
        let after = try screen.still(where: hasPictures)
        let isSame = before == after
        #expect(isSame, "\(what)")
        if !isSame, let folder = ProcessInfo.processInfo.environment["VITRINE_SCREENSHOTS"] {
            // View it with `convert -size 1000x800 -depth 8 rgb:FILE FILE.png`.
            for (name, pixels) in [("before", before), ("after", after)] {
                try Data(pixels).write(to: URL(fileURLWithPath: "\(folder)/\(name).rgb"))
            }
        }
        return after
    }

    @Test("After five hundred steps through a list the screen equals a fresh one (3.3)")
    func scrolling() throws {
        let screen = try browse()
        let first = try expectSameWhenRedrawn(screen, "at the beginning")
        var keys: [String] = []
        for step in 0..<100 { keys += step % 10 == 9 ? ["G", "k", "k", "g", "j"] : ["j", "j", "j", "k", "j"] }
        try screen.press(keys)
        try expectSameWhenRedrawn(screen, "after five hundred steps", after: first)
    }

    @Test("After steps through a contact sheet the screen equals a fresh one (3.3)")
    func sheet() throws {
        let screen = try browse()
        let list = try screen.still(where: hasPictures)
        try screen.press(["Tab"])
        let first = try expectSameWhenRedrawn(screen, "at the beginning", after: list)
        try screen.press((0..<40).flatMap { $0 % 10 == 9 ? ["G", "k", "g", "j", "l"] : ["j", "l", "j", "k", "l"] })
        try expectSameWhenRedrawn(screen, "after two hundred steps", after: first)
    }

    @Test("Opened, zoomed and moved photos leave nothing behind")
    func photos() throws {
        let screen = try browse()
        let first = try screen.still(where: hasPictures)
        for keys in [["j", "Return"], ["plus", "plus", "l", "j", "bracketright", "i"], ["i", "plus", "h", "k"]] {
            try screen.press(keys)
            _ = try screen.still(where: hasPictures)
        }
        try screen.press(["q", "j"])
        try expectSameWhenRedrawn(screen, "the list", after: first)
    }
}
