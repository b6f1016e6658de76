import Foundation
import TestSupport
import Testing

/// Vitrine on a kernel that lacks a part of the sandbox.
@Suite(.ownThread) struct OlderKernelTests {
    private let gallery: SmallGallery

    init() throws { gallery = try SmallGallery() }

    /// Runs a command after it has given up Landlock, for itself and for all programs that it starts.
    private static let withoutLandlock = """
        import ctypes, os, struct, sys
        landlock_create_ruleset, no_such_call = 444, 38
        steps = [(0x20, 0, 0, 0), (0x15, 0, 1, landlock_create_ruleset), (0x06, 0, 0, 0x00050000 | no_such_call),
                 (0x06, 0, 0, 0x7FFF0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
        filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
        libc = ctypes.CDLL(None, use_errno=True)
        no_new_privileges, set_filter, by_program = 38, 22, 2
        assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
        assert libc.prctl(set_filter, by_program, filter, 0, 0) == 0
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private func run(_ arguments: [String]) throws -> Command {
        try Command(
            "/usr/bin/python3", ["-c", Self.withoutLandlock, Built.vitrine] + arguments,
            environment: gallery.home.environment())
    }

    private var sync: [String] { ["sync", "--photos", gallery.address.text] }
    private var show: [String] { ["show", "--size", "20x10", Built.testGallery + "/images/owl.jpg"] }

    @Test("Without Landlock, Vitrine says so, and fetches and decodes with the remaining restrictions")
    func remaining() throws {
        let version = try run(["--version", "--verbose"])
        #expect(version.text.components(separatedBy: "no Landlock").count > 2, "\(version.text)")
        let synced = try run(sync)
        #expect(synced.status == 0 && synced.text.hasSuffix(SmallGallery.everything), "\(synced.text) \(synced.errors)")
        let shown = try run(show)
        #expect(shown.status == 0 && shown.text.count { !$0.isWhitespace } > 100)
    }

    @Test("Without Landlock and with the setting “require-sandbox”, Vitrine fetches and decodes nothing")
    func required() throws {
        let synced = try run(["--require-sandbox"] + sync)
        #expect(synced.status == 1 && synced.text.isEmpty, "\(synced.text)")
        #expect(
            synced.errors.contains("The setting “require-sandbox” is on, and this system has no Landlock."),
            "\(synced.errors)")
        let shown = try run(["--require-sandbox"] + show)
        #expect(shown.status == 1, "\(shown.status)")
        #expect(
            shown.errors.contains(
                "The setting “require-sandbox” is on, and this system has no Landlock for decoders."),
            "\(shown.errors)")
        #expect(shown.text.isEmpty)
    }

    /// Whether the kernel of this machine has everything.
    private static let isSandboxWhole: Bool = {
        let version = try? Household().vitrine("--version", "--verbose").text
        return version.map { !$0.contains("no Landlock") && !$0.contains("no seccomp") } ?? false
    }()

    @Test("With a whole sandbox, the setting “require-sandbox” changes nothing", .enabled(if: isSandboxWhole))
    func whole() throws {
        let shown = try Command(Built.vitrine, ["--require-sandbox"] + show, environment: gallery.home.environment())
        #expect(shown.status == 0 && shown.text.count { !$0.isWhitespace } > 100, "\(shown.errors)")
        let synced = try Command(Built.vitrine, ["--require-sandbox"] + sync, environment: gallery.home.environment())
        #expect(synced.status == 0, "\(synced.errors)")
    }
}
