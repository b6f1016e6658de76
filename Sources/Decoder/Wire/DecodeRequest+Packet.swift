/// The request as the decoder's server gets it: reading it is of the least work for a process that does nothing twice.
extension DecodeRequest {
    /// The bytes from which `init(packet:)` makes the same request again.
    public var packet: [UInt8] {
        var wire = WireWriter()
        for number in [region.x, region.y, region.width, region.height, pixelAspect] { wire.append(number) }
        wire.append(box)
        for color in [background.red, background.green, background.blue] { wire.append(color) }
        for flag in [enlarges, isChequered] { wire.append(flag) }
        wire.append(Self.place(of: fitting))
        wire.append(Self.place(of: product))
        wire.append(Self.place(of: haste))
        wire.append(UInt32(frame))
        wire.append(UInt8(run))
        wire.append(UInt8(turns))
        return wire.bytes
    }

    /// Reads what `packet` writes. What is out of bounds, too short or too long is an error.
    public init(packet: [UInt8]) throws(PixelsError) {
        do {
            self = try packet.withUnsafeBytes { bytes throws(PixelsError) in
                var wire = WireReader(bytes)
                return try DecodeRequest(from: &wire)
            }
        } catch {
            throw .malformedRequest("no request in \(packet.count) bytes")
        }
    }

    private init(from wire: inout WireReader) throws(PixelsError) {
        let (x, y) = (try wire.number(), try wire.number())
        let (width, height) = (try wire.number(), try wire.number())
        let aspect = try wire.number()
        self.init(box: try wire.size(largestSide: Self.largestSide))
        guard let region = UnitRect(x: x, y: y, width: width, height: height), Self.pixelAspects.contains(aspect) else {
            throw .malformedRequest("region")
        }
        self.region = region
        pixelAspect = aspect
        background = PixelColor(red: try wire.integer(), green: try wire.integer(), blue: try wire.integer())
        enlarges = try wire.flag()
        isChequered = try wire.flag()
        fitting = try Self.value(at: try wire.integer())
        product = try Self.value(at: try wire.integer())
        haste = try Self.value(at: try wire.integer())
        let (frame, run) = (Int(try wire.integer(UInt32.self)), Int(try wire.integer(UInt8.self)))
        let turns = Int(try wire.integer(UInt8.self))
        guard Self.frames.contains(frame), Self.runs.contains(run), 0...3 ~= turns, wire.remaining == 0 else {
            throw .malformedRequest("frame")
        }
        self.frame = frame
        self.run = run
        self.turns = turns
    }

    private static func place<Value: CaseIterable & Equatable>(of value: Value) -> UInt8 {
        UInt8(Value.allCases.enumerated().first { $0.element == value }?.offset ?? 0)
    }

    private static func value<Value: CaseIterable>(at place: UInt8) throws(PixelsError) -> Value {
        guard let value = Value.allCases.dropFirst(Int(place)).first else { throw .malformedRequest("a choice") }
        return value
    }
}
