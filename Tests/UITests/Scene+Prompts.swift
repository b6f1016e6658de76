import Cells
import Session
import Model
import Testing

@testable import Cache
@testable import UI

/// Scenes of the help, the command line and questions.
extension Scene {
    static let prompts = [
        Scene("help") { scene in
            try await scene.open()
            scene.screens.press("?")
        },
        Scene("help-of-a-photo") { try await $0.open(at: "lighthouse", isPhotoOpen: true, "?") },
        Scene("help-filtered") { scene in
            try await scene.open()
            scene.screens.press("?")
            scene.screens.type("photo before")
        },
        Scene("command-line") { try await $0.open(at: nil, ":") },
        Scene("command-chosen") { scene in
            try await scene.open(at: nil, ":")
            scene.screens.type("so")
            scene.screens.press(Key(.tab), Key(.tab))
        },
        Scene("command-parameter") { scene in
            try await scene.open(at: "lighthouse", isPhotoOpen: true, ":")
            scene.screens.type("slideshow 1")
        },
        Scene("settings") { scene in
            try await scene.open()
            scene.screens.type(":set symbols half")
            scene.screens.press(Key(.enter), Key(.function(2)), "G", "g", "j")
        },
        Scene("settings-search") { scene in
            try await scene.open()
            scene.screens.press(Key(.function(2)))
            scene.screens.type("/certificate")
        },
        Scene("setting-value") { scene in
            try await scene.open(at: nil, ":")
            scene.screens.type("set theme ")
        },
        Scene("number-typed") { try await $0.open(at: nil, "1", "2") },
        Scene("sign-in") { scene in
            try await scene.open()
            scene.screens.activity.ask(
                SignInQuestion(
                    origin: try #require(Origin("https://example.org")), schemes: ["basic"], realm: "Family photos",
                    galleries: [scene.screens.cache.id]))
            try await scene.screens.until { scene.screens.text.contains("User:") }
            scene.screens.type("anna")
            scene.screens.press(Key(.enter))
            scene.screens.type("secret")
        },
        Scene("sign-in-refused") { scene in
            try await scene.open()
            scene.screens.activity.ask(
                SignInQuestion(
                    origin: try #require(Origin("http://pictures.example.net")), schemes: ["basic"],
                    realm: "Family photos", wasRefused: true, galleries: [scene.screens.cache.id]))
            try await scene.screens.until { scene.screens.text.contains("User:") }
        },
        Scene("sign-in-offers-browser") { scene in
            try await scene.open()
            try await scene.offerBrowser()
        },
        Scene("sign-in-with-browser") { scene in
            try await scene.open()
            try await scene.offerBrowser()
            scene.screens.press(Key(.enter))
            let signIn = try #require(await scene.screens.wishes.browserSignIns().next()?.signIn)
            let page = "https://cloud.example.org/login/v2/flow/" + String(repeating: "Zx8Kq3Lm", count: 16)
            scene.screens.activity.setStage(.waiting(try Address(page)), of: signIn)
            try await scene.screens.until { !scene.screens.copied.isEmpty }
        },
        Scene("notice") { scene in
            try await scene.open(at: nil, "y")
        },
    ]
}

extension SceneGallery {
    /// Shows a Nextcloud server's question, and moves to the browser's field.
    fileprivate func offerBrowser() async throws {
        screens.activity.ask(
            SignInQuestion(
                origin: try #require(Origin("https://cloud.example.org")), schemes: ["basic"], realm: "Nextcloud",
                browserServer: try Address("https://cloud.example.org/"), galleries: [screens.cache.id]))
        try await screens.until { screens.text.contains("User:") }
        screens.press(Key(.up))
    }
}
