/// The request as the decoder's command line.
extension DecodeRequest {
    /// The arguments, without the program's name, from which `init(arguments:)` makes the same request again.
    public var arguments: [String] {
        [
            "region=\(region.x),\(region.y),\(region.width),\(region.height)",
            "box=\(box.width)x\(box.height)",
            "aspect=\(pixelAspect)",
            "fitting=\(fitting.rawValue)",
            "enlarges=\(enlarges ? "yes" : "no")",
            "background=\(background.red),\(background.green),\(background.blue)",
            "chequer=\(isChequered ? "yes" : "no")",
            "product=\(product.rawValue)",
            "frame=\(frame)",
            "haste=\(haste.rawValue)",
            "turns=\(turns)",
            "run=\(run)",
        ]
    }

    /// Reads exactly what `arguments` writes. Everything else is an error: there are no defaults, no other order, and
    /// no other way to write a number.
    public init(arguments: some Collection<String>) throws(PixelsError) {
        let names = [
            "region", "box", "aspect", "fitting", "enlarges", "background", "chequer", "product", "frame", "haste",
            "turns", "run",
        ]
        guard arguments.count == names.count else { throw .malformedRequest("\(arguments.count) arguments") }
        var values: [Substring] = []
        for (name, argument) in zip(names, arguments) {
            guard argument.utf8.starts(with: "\(name)=".utf8) else { throw .malformedRequest("no \(name)") }
            values.append(argument[argument.utf8.index(argument.startIndex, offsetBy: name.utf8.count + 1)...])
        }
        self.init(box: try Self.box(values[1]))
        region = try Self.region(values[0])
        pixelAspect = try Self.aspect(values[2])
        guard let fitting = Fitting(rawValue: String(values[3])) else { throw .malformedRequest("fitting") }
        self.fitting = fitting
        enlarges = values[4] == "yes"
        background = try Self.color(values[5])
        isChequered = values[6] == "yes"
        guard let product = Product(rawValue: String(values[7])) else { throw .malformedRequest("product") }
        self.product = product
        guard let frame = Int(values[8]), Self.frames.contains(frame) else { throw .malformedRequest("frame") }
        self.frame = frame
        guard let haste = Haste(rawValue: String(values[9])) else { throw .malformedRequest("haste") }
        self.haste = haste
        guard let turns = Int(values[10]), 0...3 ~= turns else { throw .malformedRequest("turns") }
        self.turns = turns
        guard let run = Int(values[11]), Self.runs.contains(run) else { throw .malformedRequest("run") }
        self.run = run
        // Whatever was read leniently above ("+1", "1e0", "maybe") is written otherwise.
        guard self.arguments.elementsEqual(arguments) else { throw .malformedRequest("not the usual form") }
    }

    private static func region(_ text: Substring) throws(PixelsError) -> UnitRect {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
        guard numbers.count == 4,
            let region = UnitRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        else { throw .malformedRequest("region") }
        return region
    }

    private static func box(_ text: Substring) throws(PixelsError) -> PixelSize {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ 1...largestSide ~= $0 }) else { throw .malformedRequest("box") }
        return PixelSize(width: sides[0], height: sides[1])
    }

    private static func aspect(_ text: Substring) throws(PixelsError) -> Double {
        guard let aspect = Double(text), pixelAspects.contains(aspect) else { throw .malformedRequest("aspect") }
        return aspect
    }

    private static func color(_ text: Substring) throws(PixelsError) -> PixelColor {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard parts.count == 3 else { throw .malformedRequest("background") }
        return PixelColor(red: parts[0], green: parts[1], blue: parts[2])
    }
}
