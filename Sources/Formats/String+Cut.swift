extension String {
    /// As many whole characters from the beginning as fit into so many bytes.
    ///
    /// Where not even the first one fits, as many of its parts: a character may have any number of accents.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let characters = prefix(of: self, limit) { $0.utf8.count }
        return characters.isEmpty ? String(prefix(of: unicodeScalars, limit) { UTF8.width($0) }) : String(characters)
    }

    private func prefix<Parts: Collection>(
        of parts: Parts, _ limit: Int, size: (Parts.Element) -> Int
    ) -> Parts.SubSequence {
        var rest = limit
        return parts.prefix { part in
            rest -= size(part)
            return rest >= 0
        }
    }
}
