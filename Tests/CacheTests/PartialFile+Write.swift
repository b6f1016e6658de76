import Glibc

@testable import Cache

extension PartialFile {
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
