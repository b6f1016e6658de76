import Glibc
import Model
import TestSupport
import Testing
import Towns

/// The table that names the places of photos.
@Suite struct TownTableTests {
    private let folder = TestFolder()
    private static let installed = TownTable(path: Built.towns)

    /// A town of a table that a test makes.
    private struct MadeTown {
        var latitude: Double
        var longitude: Double
        /// The steps of the radius less one.
        var size = 0
    }

    /// Returns a table's bytes as the script makes them. The name of each town is its number in `towns`.
    private func bytes(_ towns: [MadeTown]) -> [UInt8] {
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> (8 * $0) & 0xFF) } }
        var names: [UInt8] = [4] + Array("Land".utf8)
        var records: [(degree: Int, east: Int, bytes: [UInt8])] = []
        for (number, town) in towns.enumerated() {
            let degree = min(Int(town.latitude.rounded(.down)) + 90, 179)
            let north = min(Int((town.latitude + 90 - Double(degree)) * 256), 255)
            let east = Int((town.longitude + 180) / 360 * 65_536) % 65_536
            let word = names.count | town.size << 28
            records.append((degree, east, little(word, 4) + little(north, 1) + little(east, 2)))
            names += [UInt8("\(number)".utf8.count)] + Array("\(number)".utf8)
        }
        records.sort { ($0.degree, $0.east) < ($1.degree, $1.east) }
        let starts = (0...180).flatMap { degree in little(records.count { $0.degree < degree }, 4) }
        return Array("towns 1\n".utf8) + little(towns.count, 4) + little(1, 4) + little(names.count, 4) + starts
            + little(0, 4) + records.flatMap(\.bytes) + names
    }

    private func table(_ bytes: [UInt8]) -> TownTable {
        TownTable(path: folder.write("towns.table", bytes))
    }

    /// Returns the angle between two positions by their vectors, a formula other than the table's.
    private func distance(_ town: MadeTown, _ latitude: Double, _ longitude: Double) -> Double {
        func vector(_ latitude: Double, _ longitude: Double) -> SIMD3<Double> {
            let (y, x) = (latitude * .pi / 180, longitude * .pi / 180)
            return SIMD3(cos(y) * cos(x), cos(y) * sin(x), sin(y))
        }
        let difference = vector(town.latitude, town.longitude) - vector(latitude, longitude)
        return 2 * asin(min(1, (difference * difference).sum().squareRoot() / 2)) * 6_371.0088
    }

    @Test(
        "A photo lies in a town, or has a distance from the nearest town",
        arguments: [
            (38.7223, -9.1393, "Lisbon, Portugal"), (38.5667, -7.9, "Évora, Portugal"),
            (38.46, -7.9, "12 km from Évora, Portugal"), (51.5105, -0.1873, "London, United Kingdom"),
            (45.5152, -122.6784, "Portland, Oregon, United States"),
            (43.6591, -70.2568, "Portland, Maine, United States"),
            (1.3521, 103.8198, "Singapore"), (52.5163, 13.3777, "Berlin, Germany"),
            (35.6586, 139.7454, "Tokyo, Japan"), (40.758, -73.9855, "Manhattan, New York, United States"),
            (-33.8568, 151.2153, "Sydney, Australia"),
        ])
    func names(latitude: Double, longitude: Double, text: String) throws {
        #expect(try Self.installed.town(latitude: latitude, longitude: longitude)?.text == text)
    }

    @Test("A place far from all towns has no town")
    func far() throws {
        for (latitude, longitude) in [(0.0, 0.0), (90, 0), (-90, 180), (-48.9, -123.4), (72, -40), (0, 180), (0, -180)]
        {
            #expect(try Self.installed.town(latitude: latitude, longitude: longitude) == nil)
        }
    }

    @Test("Impossible coordinates have no town")
    func impossible() throws {
        for number in [Double.nan, .infinity, -.infinity, 1e300, 180.1, -181] {
            #expect(try Self.installed.town(latitude: number, longitude: 0) == nil)
            #expect(try Self.installed.town(latitude: 38.7, longitude: number) == nil)
        }
    }

    @Test("The town is the nearest of all, also across the date line and around the poles")
    func nearest() throws {
        var numbers = SeededNumbers(seed: 7)
        var towns: [MadeTown] = []
        for latitude in [-89.9, -89.2, -52.3, 0.1, 51.7, 88.7, 89.6] {
            for _ in 0..<60 {
                let longitude = Double.random(in: -180..<180, using: &numbers)
                let shift = Double.random(in: -0.09...0.09, using: &numbers)
                towns.append(MadeTown(latitude: latitude + shift, longitude: longitude))
            }
            for longitude in [-179.99, -179.4, 179.2, 179.97] {
                towns.append(MadeTown(latitude: latitude, longitude: longitude))
            }
        }
        let table = table(bytes(towns))
        var found = 0
        for _ in 0..<3_000 {
            let town = towns[Int.random(in: towns.indices, using: &numbers)]
            let latitude = min(max(town.latitude + Double.random(in: -1...1, using: &numbers), -90), 90)
            let turn = town.longitude + Double.random(in: -2...2, using: &numbers)
            let longitude = turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn
            let result = try table.town(latitude: latitude, longitude: longitude)
            let nearest = towns.map { distance($0, latitude, longitude) }.min() ?? .infinity
            // The table's positions are exact to 400 m.
            if nearest < 99 { #expect(result != nil) }
            if nearest > 101 { #expect(result == nil) }
            guard let result, let number = Int(result.name.prefix { $0 != "," }) else { continue }
            found += 1
            let own = distance(towns[number], latitude, longitude)
            #expect(own < nearest + 1 && (result.distance == 0 ? own < 6 : abs(Double(result.distance) - own) < 1.2))
        }
        #expect(found > 1_000)
    }

    @Test("A large town contains places that are nearer to the centre of a small town")
    func extents() throws {
        let table = table(
            bytes([MadeTown(latitude: 50, longitude: 8, size: 15), MadeTown(latitude: 50.1, longitude: 8)]))
        #expect(try table.town(latitude: 50.06, longitude: 8)?.text == "0, Land")
        #expect(try table.town(latitude: 50.1, longitude: 8)?.text == "1, Land")
        #expect(try table.town(latitude: 49.8, longitude: 8)?.text == "22 km from 0, Land")
    }

    @Test("A damaged or missing table gives an error, and never a crash")
    func damaged() throws {
        let good = bytes([MadeTown(latitude: 50, longitude: 8), MadeTown(latitude: 50, longitude: 8.1)])
        #expect(throws: TownTableError.unreadable(path: folder.path("none"), reason: "No such file or directory")) {
            try TownTable(path: folder.path("none")).town(latitude: 50, longitude: 8)
        }
        for count in [0, 7, 8, 20, 700, good.count - 1] {
            #expect(throws: TownTableError.damaged(path: folder.path("towns.table"))) {
                try table(Array(good.prefix(count))).town(latitude: 50, longitude: 8)
            }
        }
        // Changed numbers may give a wrong town, but no position outside the file is read.
        for index in good.indices {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] where good[index] != value {
                var bytes = good
                bytes[index] = value
                _ = try? table(bytes).town(latitude: 50, longitude: 8.05)
            }
        }
    }

    @Test("The installed table has a name for each of its towns")
    func installed() throws {
        var found = 0
        for latitude in -89...89 {
            for longitude in -180...180 {
                guard
                    let town = try Self.installed.town(latitude: Double(latitude), longitude: Double(longitude))
                else { continue }
                found += 1
                #expect(!town.name.isEmpty && town.distance <= 100 && town.name.allSatisfy { !$0.isNewline })
            }
        }
        #expect(found > 5_000)
    }
}
