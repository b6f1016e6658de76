/// A word that nobody knows, and the one that was meant.
public enum Misspelling {
    /// The word that is fewest letters away; nil if none is near: another one is no help then.
    public static func nearest(to word: String, among words: [String]) -> String? {
        let near = words.map { (word: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= max(1, word.count / 3) else {
            // Of a long name people know the beginning.
            return word.count < 2 ? nil : words.first { $0.hasPrefix(word) }
        }
        return near.word
    }

    /// How many letters have to be put in, left out, changed, or exchanged with the next.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var rows = [Array(0...other.count)]
        for row in one.indices {
            var next = [row + 1]
            for column in other.indices {
                let isSame = one[row] == other[column]
                var cost = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (isSame ? 0 : 1))
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    cost = min(cost, rows[row - 1][column - 1] + 1)
                }
                next.append(cost)
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }
}
