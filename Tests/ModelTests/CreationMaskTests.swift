import Model
import Testing

@Suite struct CreationMaskTests {
    @Test(
        "A new file gets the permissions of its folder and the mask, and others cannot write to it",
        arguments: [
            (0o022, 0o1777, 0o644), (0o022, 0o755, 0o644), (0o022, 0o700, 0o600), (0o077, 0o755, 0o600),
            (0o000, 0o1777, 0o644), (0o002, 0o775, 0o644), (0o002, 0o2775, 0o664), (0o022, 0o2775, 0o644),
            (0o000, 0o3777, 0o664), (0o027, 0o755, 0o640),
        ])
    func files(mask: UInt32, folder: UInt32, expected: UInt32) {
        #expect(CreationMask(mask).file(inFolder: folder) == expected)
    }

    @Test(
        "A new folder in a gallery keeps the set-group-ID bit and gets the permissions of the outer folder and the mask",
        arguments: [
            (0o022, 0o1777, 0o755), (0o022, 0o700, 0o700), (0o000, 0o777, 0o755), (0o002, 0o2775, 0o2775),
            (0o027, 0o2775, 0o2750),
        ])
    func folders(mask: UInt32, folder: UInt32, expected: UInt32) {
        #expect(CreationMask(mask).folder(inFolder: folder) == expected)
    }

    @Test(
        "A folder that the user named gets the permissions of the mask, and others cannot write to it",
        arguments: [(0o022, 0o700, 0o755), (0o000, 0o700, 0o755), (0o002, 0o2700, 0o2775), (0o077, 0o700, 0o700)])
    func namedFolders(mask: UInt32, mode: UInt32, expected: UInt32) {
        #expect(CreationMask(mask).newFolder(mode) == expected)
    }
}
