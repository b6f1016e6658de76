/// Text from outside, cut into glyphs that are safe to put on a screen.
///
/// This is the one place where text is made harmless: everything that reaches a cell, a log line or standard output
/// has gone through it. Whatever the bytes were, the glyphs that come out hold no control character, no
/// bidirectional override, no invisible character and at most four marks each, and their widths add up to the
/// columns that a terminal will use.
///
///     for glyph in Glyphs(photo.name) { … }
///
/// The work is linear in the length of the text, also for a name of 10,000 combining marks.
public struct Glyphs: Sequence, Sendable {
    private let text: String

    /// Takes any text; nothing is looked at until it is iterated.
    public init(_ text: String) {
        self.text = text
    }

    /// Begins at the first glyph.
    public func makeIterator() -> Iterator {
        Iterator(scalars: text.unicodeScalars.makeIterator())
    }

    /// Yields one glyph at a time.
    public struct Iterator: IteratorProtocol {
        private var scalars: String.UnicodeScalarView.Iterator
        /// The spacing scalar that ended the glyph before, read already and not yet given out.
        private var pending: (scalar: Unicode.Scalar, width: Int)?

        fileprivate init(scalars: String.UnicodeScalarView.Iterator) {
            self.scalars = scalars
        }

        /// The next glyph, or nil at the end of the text.
        public mutating func next() -> Glyph? {
            // A mark with nothing to sit on gets a space to sit on, so that it cannot touch the cell before it.
            var base = pending
            pending = nil
            var marks = String.UnicodeScalarView()
            var markCount = 0
            while let scalar = scalars.next() {
                switch ScalarKind(scalar) {
                case .spacing(let width):
                    guard base != nil || markCount > 0 else {
                        base = (scalar, width)
                        continue
                    }
                    pending = (scalar, width)
                    return glyph(base, marks)
                case .replaced(let mark):
                    guard base != nil || markCount > 0 else {
                        base = (mark, 1)
                        continue
                    }
                    pending = (mark, 1)
                    return glyph(base, marks)
                case .combining:
                    if markCount < Glyph.maximumMarks { marks.append(scalar) }
                    markCount += 1
                case .dropped:
                    continue
                }
            }
            return base != nil || markCount > 0 ? glyph(base, marks) : nil
        }

        private func glyph(
            _ base: (scalar: Unicode.Scalar, width: Int)?, _ marks: String.UnicodeScalarView
        ) -> Glyph {
            var text = String(Character(base?.scalar ?? " "))
            if !marks.isEmpty { text.unicodeScalars.append(contentsOf: marks) }
            return Glyph(text: text, width: base?.width ?? 1)
        }
    }
}
