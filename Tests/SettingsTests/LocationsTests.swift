import Testing

@testable import Settings

@Suite struct LocationsTests {
    private func locations(_ variables: [String: String]) -> Locations {
        Locations(fallback: "/home/passwd") { variables[$0] }
    }

    @Test func defaultPaths() {
        let usual = locations(["HOME": "/home/me"])
        #expect(usual.home == "/home/me")
        #expect(usual.settingsFile == "/home/me/.config/vitrine/config")
        #expect(usual.galleriesFile == "/home/me/.config/vitrine/galleries")
        #expect(usual.cache == "/home/me/.cache/vitrine")
        #expect(usual.thumbnailsFolder == "/home/me/.cache/thumbnails")
        #expect(usual.placesFile == "/home/me/.local/state/vitrine/places")
        #expect(usual.placeFile == "/home/me/.local/state/vitrine/place")
    }

    @Test func environmentVariablesCount() {
        let moved = locations([
            "HOME": "/home/me/", "XDG_CONFIG_HOME": "/etc/me", "XDG_CACHE_HOME": "/var/cache/",
            "XDG_STATE_HOME": "/var/state",
        ])
        #expect(moved.home == "/home/me")
        #expect(moved.config == "/etc/me/vitrine")
        #expect(moved.cache == "/var/cache/vitrine")
        #expect(moved.state == "/var/state/vitrine")
    }

    @Test(arguments: ["", "relative", "./here", "~/cache"])
    func relativePathsAreIgnored(path: String) {
        let ignored = locations([
            "HOME": path, "XDG_CONFIG_HOME": path, "XDG_CACHE_HOME": path, "XDG_STATE_HOME": path,
        ])
        #expect(ignored == locations(["HOME": "/home/passwd"]))
    }

    @Test func rootCanBeHome() {
        #expect(locations(["HOME": "/", "XDG_CACHE_HOME": "/"]).home == "/")
    }
}
