/// A word that nobody knows, and the one that was meant.
///
///     Misspelling.nearest(to: "colours", among: ["colors", "symbols"])      // "colors"
public enum Misspelling {
    /// The name that differs least, if it differs by a slip or two; or the only one that begins like that.
    public static func nearest(to word: String, among names: [String]) -> String? {
        let letters = Array(word.lowercased().utf8)
        // Of one letter or two everything is near, and what is longer than every name is none that was misspelled.
        guard (3...40).contains(letters.count) else { return nil }
        let bound = max(1, letters.count / 3)
        let nearest = names.map { (name: $0, distance: distance(letters, Array($0.utf8))) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= bound { return nearest.name }
        let beginning = names.filter { $0.utf8.starts(with: letters) }
        return beginning.count == 1 ? beginning[0] : nil
    }

    /// How many letters have to be put in, taken out, replaced, or exchanged with the next one.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var (beforeLast, last) = ([Int](), Array(0...to.count))
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (column, other) in to.enumerated() {
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == to[column - 1], other == from[row - 1] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[to.count]
    }
}
