import Glibc
import Testing

@testable import Text

@Suite struct ScalarWidthTests {
    /// The table is ours, the columns are the terminal's: the two must agree wherever both have an opinion.
    @Test func agreesWithTheSystemsTable() throws {
        let locale = try #require(newlocale(1 << LC_CTYPE, "C.UTF-8", nil) as locale_t?)
        defer { freelocale(locale) }
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        // Not in Swift's picture of the C library, which is taken without feature macros.
        let symbol = try #require(dlsym(nil, "wcwidth"))
        let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        var disagreements: [String] = []
        for value in UInt32(0x20)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let theirs = wcwidth(Int32(bitPattern: value))
            // -1 is "not printable or not assigned": newer tables know more scalars than the system's.
            guard theirs >= 0 else { continue }
            let ours: Int32? =
                switch ScalarKind(scalar) {
                case .spacing(let width): Int32(width)
                case .combining: 0
                case .dropped, .replaced: nil
                }
            if let ours, ours != theirs { disagreements.append(String(value, radix: 16) + ":\(ours)/\(theirs)") }
        }
        // A vowel sign that Unicode 15 moved from the non-spacing to the spacing marks.
        #expect(disagreements.filter { $0 != "1171e:1/0" }.isEmpty)
    }
}
