import CSQLite
@_spi(_Unicode) import Swift

/// Splits any text into words exactly as the full-text index does.
///
/// The class calls the index's own tokenizer, for search terms and for names on the screen.
public final class WordTokenizer {
    /// A word of a text.
    public struct Word: Equatable, Sendable {
        /// The word in lower case and without accents, as the index stores it.
        public let text: String
        /// The position of the word in the text, in bytes.
        public let range: Range<Int>
    }

    private let functions: fts5_tokenizer
    private let tokenizer: OpaquePointer

    /// The tokenizer's options. They match the index's definition, `unicode61 remove_diacritics 2`.
    private static let options = ["remove_diacritics", "2"]

    /// Creates a tokenizer. The connection must stay open while the tokenizer exists.
    init(_ database: OpaquePointer) throws(SQLiteError) {
        guard let api = Self.api(database), let find = api.pointee.xFindTokenizer else {
            throw .other(reason: "this SQLite has no full-text search")
        }
        var context: UnsafeMutableRawPointer?
        var functions = fts5_tokenizer()
        guard find(api, "unicode61", &context, &functions) == SQLITE_OK else {
            throw .other(reason: "this SQLite has no tokenizer “unicode61”")
        }
        var made: OpaquePointer?
        let code = Self.options[0].withCString { name in
            Self.options[1].withCString { value in
                var arguments: [UnsafePointer<CChar>?] = [name, value]
                return functions.xCreate(context, &arguments, Int32(arguments.count), &made)
            }
        }
        guard code == SQLITE_OK, let made else {
            throw .other(reason: "SQLite refused the tokenizer’s options (\(code))")
        }
        (self.functions, tokenizer) = (functions, made)
    }

    deinit {
        functions.xDelete(tokenizer)
    }

    /// Returns SQLite's full-text interface.
    ///
    /// "A pointer to the fts5_api object … SELECT fts5(?1)". Only a program can bind a pointer with the name of this
    /// type; SQL text cannot.
    private static func api(_ database: OpaquePointer) -> UnsafeMutablePointer<fts5_api>? {
        var api: UnsafeMutablePointer<fts5_api>?
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK else { return nil }
        withUnsafeMutablePointer(to: &api) { pointer in
            _ = sqlite3_bind_pointer(statement, 1, pointer, "fts5_api_ptr", nil)
            _ = sqlite3_step(statement)
        }
        return api
    }

    /// Returns the words of a text in order.
    func words(in text: String) -> [Word] {
        var words: [Word] = []
        var text = text
        text.withUTF8 { bytes in
            withUnsafeMutablePointer(to: &words) { words in
                _ = bytes.withMemoryRebound(to: CChar.self) { characters in
                    functions.xTokenize(
                        tokenizer, words, FTS5_TOKENIZE_AUX, characters.baseAddress, Int32(characters.count),
                        { words, _, token, count, start, end in
                            guard let words, let token else { return SQLITE_OK }
                            let bytes = UnsafeRawBufferPointer(start: token, count: Int(count))
                            words.assumingMemoryBound(to: [Word].self).pointee.append(
                                Word(text: String(decoding: bytes, as: UTF8.self), range: Int(start)..<Int(end)))
                            return SQLITE_OK
                        })
                }
            }
        }
        return words
    }
}

extension Connection {
    /// Returns the words of a text, one list for each spelling.
    ///
    /// A letter such as `й` is one code point, or a base letter with an accent, as in file names from macOS. The
    /// tokenizer removes the accents of Latin letters, and all separate accents. So the index has `й` or `и`, and code
    /// that compares words must try both.
    public func spellings(of text: String) throws -> [[String]] {
        var known: Set<[[UInt8]]> = []
        return try text.forms.map { try words(in: $0).map(\.text) }.filter { words in
            // Swift treats all forms of a letter as equal, and SQLite does not.
            !words.isEmpty && known.insert(words.map { Array($0.utf8) }).inserted
        }
    }
}

extension String {
    /// The text, and its forms NFC and NFD of Unicode.
    ///
    /// Swift has these forms for its comparison of strings, but no public functions for them yet.
    fileprivate var forms: [String] {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return [self] }
        return [self, String(UnicodeScalarView(_nfc)), String(UnicodeScalarView(_nfd))]
    }
}
