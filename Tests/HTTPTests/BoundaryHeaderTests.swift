import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Numbers around the bounds of integers in every numeric header.
struct BoundaryHeaderTests {
    private static let count = 10_000

    private func head(_ lines: [String]) -> ResponseHead {
        var head = ResponseHead()
        for line in lines + [""] {
            var bytes = Array((line + "\r\n").utf8)
            bytes.withUnsafeMutableBytes { _ = head.take(UnsafeRawBufferPointer($0)) }
        }
        return head
    }

    @Test("No status code and no length in a head traps, and no length is below 0 or beyond the bound")
    func heads() {
        var numbers = BoundaryNumbers(seed: 1)
        for _ in 0..<Self.count {
            _ = head(["HTTP/1.1 \(numbers.text()) x", "Content-Length: 1"]).declaredLength
            let head = head(["HTTP/1.1 200 x", "Content-Length: \(numbers.text())", "Age: \(numbers.text())"])
            guard let length = head.declaredLength else { continue }
            #expect(length >= 0 && length <= ByteCount.most)
            #expect(length + length >= length && length * Int(numbers.text().count) >= 0)
        }
    }

    @Test("No stated range traps, and each accepted one lies within its whole")
    func ranges() {
        var numbers = BoundaryNumbers(seed: 2)
        for round in 0..<Self.count {
            // In a third of the cases, two numbers fit the extreme one.
            let first = round % 3 == 0 ? "0" : numbers.text()
            let whole = round % 3 == 1 ? "\(Int.max)" : numbers.text()
            guard let range = ContentRange("bytes \(first)-\(numbers.text())/\(whole)") else { continue }
            #expect(range.first <= range.last && range.last < range.whole)
            _ = range.isAnswer(to: range.first..<ByteCount(numbers.number()))
            _ = HTTPRequest.Resumption(offset: range.first, validator: "\"a\"", whole: ByteCount(numbers.number()))
                .isOfEdition(["etag": "\"a\""], whole: range.whole)
        }
        #expect(ContentRange("bytes 0-9007199254740990/9223372036854775807") != nil)
    }

    @Test("No number in a date traps")
    func dates() {
        var numbers = BoundaryNumbers(seed: 3)
        var read = 0
        for field in 0..<5 {
            for _ in 0..<Self.count {
                var fields = ["06", "1994", "08", "49", "37"]
                fields[field] = numbers.text()
                let text = "Sun, \(fields[0]) Nov \(fields[1]) \(fields[2]):\(fields[3]):\(fields[4]) GMT"
                if HTTPDate.seconds(text) != nil { read += 1 }
                _ = HTTPDate.seconds(from: text, to: "Sun, 06 Nov 1994 08:49:37 GMT")
            }
        }
        #expect(read > 100)
    }

    @Test("No port and no number in the parameters of a challenge traps")
    func portsAndChallenges() throws {
        var numbers = BoundaryNumbers(seed: 4)
        let curl = try Curl(file: Curl.file)
        for _ in 0..<Self.count {
            _ = try? HTTPURL("http://127.0.0.1:\(numbers.text())/", curl)
            _ = HTTPChallenge.all(in: ["Digest nc=\(numbers.text()), realm=\(numbers.text())"], isProxy: false)
        }
    }
}
