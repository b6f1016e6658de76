import Model
import Text

/// Saving photos to a folder of the user's.
extension PhotoActions {
    /// Asks for the folder, and begins.
    func save(_ keys: [PhotoKey]) {
        let (name, gallery) = (name(of: keys), context.title(of: cache.address))
        let exports = context.exports
        sender?.send(
            .type("Save \(name) to:", exports.folder) { [self] text in
                let path = TypedPath.absolute(text, home: context.home, currentFolder: context.currentFolder)
                guard let path else { return tell("That is no folder.") }
                exports.folder = path
                exports.begin(keys, of: cache, to: path, name: name, gallery: gallery)
            })
    }
}
