import Foundation

/// Programs that stand in the decoder's place and do something wrong.
enum BrokenDecoders {
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("BrokenDecoders/\(name)")
            .path
    }
}
