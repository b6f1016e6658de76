import Glibc
import Testing

@testable import Text

@Suite struct ScalarWidthTests {
    /// Vitrine uses its own table, which must agree with the terminal wherever both define a width.
    @Test("Widths agree with the system's table") func systemTable() throws {
        let locale = try #require(newlocale(1 << LC_CTYPE, "C.UTF-8", nil) as locale_t?)
        defer { freelocale(locale) }
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        // Swift does not import it, because it needs a feature macro.
        let symbol = try #require(dlsym(nil, "wcwidth"))
        let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        var disagreements: [String] = []
        for value in UInt32(0x20)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let theirs = wcwidth(Int32(bitPattern: value))
            // -1 means "not printable or not assigned": newer tables define more scalars than the system's.
            guard theirs >= 0 else { continue }
            let ours: Int32? =
                switch ScalarKind(scalar) {
                case .spacing(let width): Int32(width)
                case .combining: 0
                case .dropped, .replaced: nil
                }
            if let ours, ours != theirs { disagreements.append(String(value, radix: 16) + ":\(ours)/\(theirs)") }
        }
        // Unicode 15 reclassified this vowel sign as a spacing mark.
        #expect(disagreements.filter { $0 != "1171e:1/0" }.isEmpty)
    }
}
