import Testing

@testable import Settings

@Suite struct UserFoldersTests {
    @Test(arguments: [
        ("XDG_PICTURES_DIR=\"$HOME/Bilder\"", "/home/me/Bilder"),
        (
            "# XDG_PICTURES_DIR=\"/no\"\nXDG_MUSIC_DIR=\"$HOME/M\"\n  XDG_PICTURES_DIR=\"/srv/my \\\"p\\\"\"\n",
            "/srv/my \"p\""
        ),
        ("XDG_PICTURES_DIR=\"$HOME\"", nil), ("XDG_PICTURES_DIR=\"Pictures\"", nil), ("XDG_PICTURES_DIR=", nil),
        ("XDG_PICTURES_DIR=\"", nil), ("", nil),
    ]) func pictures(text: String, path: String?) {
        #expect(UserFolders(text: text, home: "/home/me").pictures == path)
    }
}
