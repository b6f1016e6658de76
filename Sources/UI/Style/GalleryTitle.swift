import Model
import Text

/// What a gallery is called. Its list has no title of its own, so it is the place where it lies.
enum GalleryTitle {
    static func text(_ address: Address) -> String {
        if let path = address.filePath { return path }
        let text = address.description
        let withoutScheme = text.drop { $0 != "/" }.drop { $0 == "/" }
        return withoutScheme.isEmpty ? text : String(withoutScheme)
    }
}
