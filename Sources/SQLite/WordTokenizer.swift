import CSQLite

/// The tokenizer that full-text indices use, for text that is in none: what a user types, a name on the screen.
///
/// It is the index's own, so what it says of a text is what the index would find.
public final class WordTokenizer {
    /// A word of a text.
    public struct Word: Equatable, Sendable {
        /// Folded: in small letters, without accents.
        public let text: String
        /// Where it stands, in bytes.
        public let range: Range<Int>
    }

    private let functions: fts5_tokenizer
    private let tokenizer: OpaquePointer

    /// Two words after the tokenizer's name, as an index's definition has them: `unicode61 remove_diacritics 2`.
    private static let options = ["remove_diacritics", "2"]

    /// Takes the tokenizer of a connection, which must stay open for as long as this lives.
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
        guard code == SQLITE_OK, let made else { throw .other(reason: "the tokenizer takes no options (\(code))") }
        (self.functions, tokenizer) = (functions, made)
    }

    deinit {
        functions.xDelete(tokenizer)
    }

    /// "A pointer to the fts5_api object … SELECT fts5(?1)", with a place for it bound under a name that proves that the
    /// caller is no SQL text.
    private static func api(_ database: OpaquePointer) -> UnsafeMutablePointer<fts5_api>? {
        var api: UnsafeMutablePointer<fts5_api>?
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK else { return nil }
        withUnsafeMutablePointer(to: &api) { place in
            _ = sqlite3_bind_pointer(statement, 1, place, "fts5_api_ptr", nil)
            _ = sqlite3_step(statement)
        }
        return api
    }

    /// The words of a text, in its order.
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
