import Foundation
import TestSupport
import Testing

/// The real program in tmux, against a real web server.
@Suite(.serialized) struct BrowsingTests {
    private let home = Household()

    private func tmux(_ arguments: String..., environment: [String: String] = [:]) throws -> Tmux {
        try Tmux([Built.vitrine] + arguments, environment: home.environment(environment))
    }

    @Test("A gallery from the network, a photo of it, the server gone, and back")
    func throughTheNight() throws {
        let server = try Nginx(serving: Built.testGallery)
        do {
            let tmux = try tmux(server.url("/index.xml"))
            let list = try tmux.until {
                $0.contains("Updated:") && $0.contains("Owl, awake") && $0.contains("▀▀▀▀▀▀▀▀")
            }
            #expect(list.contains("1 of 28") && list.contains("Dawn over the ridge") && list.contains("Updated: "))
            // A thumbnail in every row.
            #expect(try tmux.until { Self.thumbnails(in: $0) == 7 }.isEmpty == false)
            #expect(try Self.thumbnails(in: tmux.text()) == 7)
            try tmux.type("j", "j", "Enter")
            let photo = try tmux.until { $0.contains("3 of 28 · fit") && $0.filter { $0 == "▀" }.count > 500 }
            #expect(photo.contains("Stars and crosses"))
            #expect(photo.filter { $0 == "▀" }.count > 500)
            try tmux.type("Q")
            #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        }
        server.stop()
        do {
            let tmux = try tmux()
            // The place is found again: the photo that was looked at, though nobody serves it.
            let photo = try tmux.until { $0.contains("Stars and crosses") && $0.filter { $0 == "▀" }.count > 500 }
            #expect(photo.contains("3 of 28"))
            try tmux.type("q")
            let list = try tmux.until { $0.contains("Update failed: ") && Self.thumbnails(in: $0) == 7 }
            #expect(list.contains("Update failed: 127.0.0.1:\(server.port) cannot be reached · Updated: "))
            #expect(list.contains("Dawn over the ridge") && Self.thumbnails(in: list) == 7)
            try server.start()
            try tmux.type("r")
            let updated = try tmux.until { $0.contains("Updated: ") && !$0.contains("failed") }
            #expect(updated.contains("Updated: ") && !updated.contains("failed"))
            try tmux.type("Q")
            #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        }
    }

    /// Photos whose three rows all show a picture.
    private static func thumbnails(in text: String) -> Int {
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard rows.count > 22 else { return 0 }
        return (0..<7).filter { photo in
            (1...3).allSatisfy { rows[photo * 3 + $0].dropFirst().prefix(8).contains("▀") }
        }.count
    }
}
