import Model
import TestSupport
import Testing

@testable import Formats

/// Numbers of galleries at the bounds of integers: none ends the program.
@Suite struct BoundaryNumberTests {
    private static let date = ["2006", "-07", "-30", "T07", ":47", ":17", ".5", "+02", ":00"]

    @Test("No number in any field of a date ends the program", arguments: date.indices)
    func dates(field: Int) throws {
        var numbers = BoundaryNumbers(seed: UInt64(field))
        var read = 0
        for _ in 0..<10_000 {
            var fields = Self.date
            let sign = fields[field].first.map { $0.isNumber ? "" : String($0) } ?? ""
            fields[field] = sign + numbers.text()
            if let moment = Timestamp(iso8601: fields.joined()) {
                read += 1
                #expect(Timestamp(iso8601: moment.iso8601) == moment)
            }
        }
        // Some are dates: else nothing was tried.
        #expect(read > 0)
    }

    @Test("A list with such dates is read, without those that are none")
    func list() throws {
        var numbers = BoundaryNumbers(seed: 100)
        var text = "<album>"
        for index in 0..<10_000 {
            var fields = Self.date
            fields[index % fields.count] = numbers.text()
            text += "<photo id='\(numbers.text())' name='\(numbers.text())' date='\(fields.joined())'>"
            text += "<image kind='image' srcURL='http://h:\(numbers.text())/\(numbers.text())'/></photo>"
        }
        let parser = GalleryXMLParser(base: try Address("http://example.org/index.xml"))
        let batch = try GalleryBatch(parser.parse(Array((text + "</album>").utf8)))
        let last = try GalleryBatch(parser.finish())
        let skipped = batch.skipped.count + last.skipped.count
        #expect(skipped + batch.entries.count + last.entries.count == 10_000 && skipped > 0)
    }

    @Test("A moment at any distance can be written down")
    func moments() {
        var numbers = BoundaryNumbers(seed: 200)
        for _ in 0..<10_000 {
            let moment = Timestamp(milliseconds: Int64(bitPattern: numbers.number()))
            #expect(moment.iso8601.hasSuffix("Z"))
        }
    }

    @Test("A reference to a character that is none is refused, whatever its number")
    func references() throws {
        var numbers = BoundaryNumbers(seed: 300)
        for _ in 0..<10_000 {
            let parser = GalleryXMLParser(base: try Address("http://example.org/index.xml"))
            do {
                _ = try parser.parse(
                    Array("<album><photo id='&#\(numbers.text());' name='&#x\(numbers.text());'/>".utf8))
                _ = try parser.parse(Array("</album>".utf8))
                _ = try parser.finish()
            } catch is FormatError {}
        }
    }
}
