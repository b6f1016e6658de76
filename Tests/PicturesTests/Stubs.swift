import Foundation

/// Programs that stand in the decoder's place and do something wrong.
enum Stubs {
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Stubs/\(name)").path
    }
}
