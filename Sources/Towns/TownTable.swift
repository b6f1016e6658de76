import Files
import Glibc
import Model
import Numbers
import Synchronization

/// Finds the town at a photo's coordinates, in a file installed with Vitrine. A lookup sends nothing over the network.
///
///     let towns = TownTable(path: "/usr/share/vitrine/Towns/towns.table")
///     try towns.town(latitude: 38.72, longitude: -9.14)?.text    // "Lisbon, Portugal"
///
/// The first lookup reads the file, so it may block. `Tools/Scripts/make-town-table` makes the file.
public final class TownTable: Sendable {
    /// The result of reading the file.
    private enum State {
        case unread
        case read(Table)
        case failed(TownTableError)
    }

    private let path: String
    private let state = Mutex(State.unread)
    /// The maximum size of the file in bytes, several times its actual size.
    private static let largest = 4 << 20

    /// Creates a table that reads the file at the first lookup.
    public init(path: String) {
        self.path = path
    }

    /// Returns the town at a place, or else the nearest town within 100 km. Returns nil if there is none.
    ///
    /// A town has a radius from 1.25 to 20 km, which grows with its population. A place is in the town if it is within
    /// this radius, or within 5 km, of the centre. If a place is in several towns, the result is the town whose centre
    /// is nearest in proportion to its radius. So the result is a large city rather than one of its districts.
    ///
    /// - Throws: an error for a missing or damaged file. Later calls throw it again without reading the file.
    public func town(latitude: Double, longitude: Double) throws(TownTableError) -> Town? {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        return try table().town(Table.Position(latitude: latitude, longitude: longitude))
    }

    private func table() throws(TownTableError) -> Table {
        let state = state.withLock { state in
            if case .unread = state { state = read() }
            return state
        }
        switch state {
        case .read(let table): return table
        case .failed(let error): throw error
        // The lock above has read the file.
        case .unread: throw .unreadable(path: path, reason: "it was not read")
        }
    }

    private func read() -> State {
        do throws(SystemError) {
            guard let bytes = try SharedFile.bytes(path, atMost: Self.largest) else {
                return .failed(.unreadable(path: path, reason: "\(SystemError(ENOENT))"))
            }
            guard let table = Table(bytes) else { return .failed(.damaged(path: path)) }
            return .read(table)
        } catch {
            return .failed(.unreadable(path: path, reason: "\(error)"))
        }
    }
}

/// The error when Vitrine cannot use its table of towns.
public enum TownTableError: Error, Hashable, CustomStringConvertible {
    /// Vitrine cannot read the file.
    case unreadable(path: String, reason: String)
    /// The file has an unknown or damaged format.
    case damaged(path: String)

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "Vitrine cannot read its table of towns, \(path): \(reason)."
        case .damaged(let path): "Vitrine’s table of towns, \(path), is damaged. Install Vitrine again."
        }
    }
}

/// The contents of the table's file. `Tools/Scripts/make-town-table` describes the format.
///
/// The initialiser checks the lengths of all parts, so that every record lies within the bytes. Each read of a name
/// checks the name's offset.
private struct Table: Sendable {
    private let bytes: [UInt8]
    /// The index of the first town in each degree of latitude, from south to north. The last element is the number of
    /// all towns.
    private let starts: [Int]
    private let areas: Part
    private let towns: Part
    private let names: Range<Int>

    /// A position in degrees.
    struct Position {
        let latitude: Double
        let longitude: Double

        /// Returns the square of half the chord between two positions. The globe has radius 1. This is the haversine
        /// formula.
        func chord(to other: Position) -> Double {
            let (north, east) = (other.latitude - latitude, other.longitude - longitude)
            let (y, x) = (sin(north * Table.radians / 2), sin(east * Table.radians / 2))
            return y * y + cos(latitude * Table.radians) * cos(other.latitude * Table.radians) * x * x
        }
    }

    /// A part of the file: records of equal length.
    private struct Part {
        let start: Int
        let count: Int
        let length: Int

        var end: Int { start + count * length }

        func offset(_ index: Int) -> Int { start + index * length }
    }

    private static let magic = Array("towns 1\n".utf8)
    private static let degrees = 180
    /// The maximum distance of a result, and the largest radius of a town, in kilometres.
    private static let (farthest, largestRadius) = (100.0, 20.0)
    /// The least extent of a town around its centre, in kilometres. This is far above the error of the table's
    /// positions, 400 m.
    private static let leastExtent = 5.0
    /// The difference between two successive radii in the table, in kilometres.
    private static let radiusStep = 1.25
    /// The mean radius of the Earth in kilometres.
    private static let earthRadius = 6_371.0088
    private static let radians = Double.pi / 180

    /// Checks and keeps the bytes. Returns nil if the bytes are damaged.
    init?(_ bytes: [UInt8]) {
        let beginning = Self.magic.count + 12
        let tables = beginning + 4 * (Self.degrees + 1)
        guard bytes.count >= tables, bytes.starts(with: Self.magic) else { return nil }
        func number(at offset: Int) -> Int { Self.number(bytes, offset, 4) }
        // Each count has 32 bits, so these sums and products stay far below 64 bits.
        areas = Part(start: tables, count: number(at: Self.magic.count + 4), length: 4)
        towns = Part(start: areas.end, count: number(at: Self.magic.count), length: 7)
        names = towns.end..<towns.end + number(at: Self.magic.count + 8)
        starts = (0...Self.degrees).map { number(at: beginning + 4 * $0) }
        guard names.upperBound == bytes.count, starts.first == 0, starts.last == towns.count,
            zip(starts, starts.dropFirst()).allSatisfy({ $0 <= $1 })
        else { return nil }
        self.bytes = bytes
    }

    /// Returns the town at a position, or else the nearest town within 100 km.
    func town(_ position: Position) -> Town? {
        // Most photos are taken near a town, and the small circle has few towns to compare.
        for radius in [Self.largestRadius, Self.farthest] {
            var containing: (index: Int, share: Double)?
            var nearest: (index: Int, distance: Double)?
            forEachTown(within: radius, of: position) { index, distance in
                let extent = Double(1 + number(towns.offset(index), 4) >> 28) * Self.radiusStep
                let share = distance / extent
                if distance <= max(extent, Self.leastExtent), share < containing?.share ?? .infinity {
                    containing = (index, share)
                }
                if distance < nearest?.distance ?? .infinity { nearest = (index, distance) }
            }
            if let containing { return town(containing.index, 0) }
            if let nearest { return town(nearest.index, Int(clamped: nearest.distance.rounded())) }
        }
        return nil
    }

    private func town(_ index: Int, _ distance: Int) -> Town? {
        let word = number(towns.offset(index), 4)
        let area = word >> 19 & 0x1FF
        guard area < areas.count, let place = name(at: word & 0x7FFFF),
            let country = name(at: number(areas.offset(area), 4))
        else { return nil }
        return Town(name: place == country ? place : "\(place), \(country)", distance: distance)
    }

    /// Calls `body` with the index and distance of each town in a circle.
    private func forEachTown(within radius: Double, of position: Position, _ body: (Int, Double) -> Void) {
        let angle = radius / Self.earthRadius
        let height = angle / Self.radians
        let south = Self.degree(position.latitude - height)
        let meridians = Self.meridians(around: position, angle)
        let longest = sin(angle / 2) * sin(angle / 2)
        for degree in south...max(south, Self.degree(position.latitude + height)) {
            for range in meridians {
                var index = firstTown(starts[degree]..<starts[degree + 1], east: range.lowerBound)
                while index < starts[degree + 1], east(index) <= range.upperBound {
                    let town = self.position(index, degree)
                    index += 1
                    guard abs(town.latitude - position.latitude) <= height else { continue }
                    let chord = position.chord(to: town)
                    if chord <= longest { body(index - 1, 2 * Self.earthRadius * asin(chord.squareRoot())) }
                }
            }
        }
    }

    /// Returns the index of the degree that contains a latitude. Index 0 begins at the South Pole.
    private static func degree(_ latitude: Double) -> Int {
        min(max(Int(clamped: latitude.rounded(.down)) + 90, 0), degrees - 1)
    }

    /// Returns the longitudes that a circle covers. The unit is 1/65,536 of the globe, counted from -180°. A circle
    /// across the date line has two ranges. A circle around a pole covers all longitudes.
    private static func meridians(around position: Position, _ angle: Double) -> [ClosedRange<Int>] {
        let globe = 65_536
        let width = sin(angle) / cos(position.latitude * radians)
        guard abs(position.latitude) + angle / radians < 90, width < 1 else { return [0...globe - 1] }
        let half = Int(clamped: asin(width) / radians / 360 * Double(globe)) + 1
        let middle = Int(clamped: (position.longitude + 180) / 360 * Double(globe)) % globe
        let (west, east) = (middle - half, middle + half)
        if west < 0 { return [0...east, west + globe...globe - 1] }
        return east < globe ? [west...east] : [0...east - globe, west...globe - 1]
    }

    /// Returns the index of a degree's first town that is not west of a longitude.
    private func firstTown(_ towns: Range<Int>, east sought: Int) -> Int {
        var (low, high) = (towns.lowerBound, towns.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if east(middle) < sought { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func east(_ index: Int) -> Int { number(towns.offset(index) + 5, 2) }

    /// Returns a town's position, which is exact to 400 m.
    private func position(_ index: Int, _ degree: Int) -> Position {
        Position(
            latitude: Double(degree - 90) + (Double(bytes[towns.offset(index) + 4]) + 0.5) / 256,
            longitude: (Double(east(index)) + 0.5) / 65_536 * 360 - 180)
    }

    /// Reads a name, which begins with a byte for its length. Returns nil if the name is damaged.
    private func name(at offset: Int) -> String? {
        guard offset < names.count else { return nil }
        let start = names.lowerBound + offset + 1
        let end = start + Int(bytes[start - 1])
        guard end <= names.upperBound else { return nil }
        return String(validating: bytes[start..<end], as: UTF8.self)
    }

    private func number(_ offset: Int, _ length: Int) -> Int { Self.number(bytes, offset, length) }

    /// Reads an unsigned little-endian number.
    private static func number(_ bytes: [UInt8], _ offset: Int, _ length: Int) -> Int {
        var number = 0
        for index in 0..<length { number |= Int(bytes[offset + index]) << (8 * index) }
        return number
    }
}
