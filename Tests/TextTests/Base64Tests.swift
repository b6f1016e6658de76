import Foundation
import Testing
import Text

@Suite struct Base64Tests {
    @Test("Encoded bytes are decoded again, as Foundation does")
    func roundTrip() {
        for count in 0..<40 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            let text = Base64.encode(bytes)
            #expect(text == Array(Data(bytes).base64EncodedString().utf8))
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(
        "Other texts are refused",
        arguments: ["A", "AA", "AAA", "AA==AA==", "A===", "====", "AAA-", "AA A", "AAAAé", "AB==", "AAB="])
    func others(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
