extension String {
    /// A name of the code as users write it: `nextSection` is `next-section`, and `switchXML` is `switch-xml`.
    var hyphenated: String {
        let letters = Array(self)
        var text = ""
        for (index, letter) in letters.enumerated() {
            let isInWord = index > 0 && letters[index - 1].isUppercase
            let isBeforeWord = index + 1 < letters.count && letters[index + 1].isLowercase
            if index > 0, letter.isUppercase, !isInWord || isBeforeWord { text += "-" }
            text += letter.lowercased()
        }
        return text
    }
}
