/// The text style of a virtual screen.
enum VirtualStyle {
    /// Returns the codes in force in a comparable form: attributes, text colour, background.
    static func style(_ old: String, adding numbers: [Int]) -> String {
        var parts = old.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        if parts.count != 3 { parts = ["", "", ""] }
        var index = 0
        while index < numbers.count {
            let code = numbers[index]
            switch code {
            case 0: parts = ["", "", ""]
            case 1...9: parts[0] += "\(code) "
            case 22...29: parts[0] = ""
            case 30...37, 90...97: parts[1] = "\(code)"
            case 39: parts[1] = ""
            case 40...47, 100...107: parts[2] = "\(code)"
            case 49: parts[2] = ""
            case 38, 48:
                let length = index + 1 < numbers.count && numbers[index + 1] == 2 ? 5 : 3
                parts[code == 38 ? 1 : 2] = numbers[index..<min(numbers.count, index + length)].map(String.init)
                    .joined(separator: ",")
                index += length - 1
            default: break
            }
            index += 1
        }
        return parts == ["", "", ""] ? "" : parts.joined(separator: "|")
    }
}
