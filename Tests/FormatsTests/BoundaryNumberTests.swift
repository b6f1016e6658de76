import Model
import TestSupport
import Testing

@testable import Formats

/// Numbers at the limits of integers do not crash the parser.
@Suite struct BoundaryNumberTests {
    private static let date = ["2006", "-07", "-30", "T07", ":47", ":17", ".5", "+02", ":00"]

    @Test("No number in a date field crashes the parser", arguments: date.indices)
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
        // Some must be valid, or the test tries nothing.
        #expect(read > 0)
    }

    @Test("A list with such dates is read, and invalid dates are skipped")
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

    @Test("Any timestamp can be formatted")
    func moments() {
        var numbers = BoundaryNumbers(seed: 200)
        for _ in 0..<10_000 {
            let moment = Timestamp(milliseconds: Int64(bitPattern: numbers.number()))
            #expect(moment.iso8601.hasSuffix("Z"))
        }
    }

    @Test("A reference to an invalid character is rejected, whatever its number")
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
