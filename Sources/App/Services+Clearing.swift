import Cache
import Glibc
import Settings

extension Services {
    /// Forgets what the command line says is to be forgotten, before anything else happens.
    func clear(_ invocation: Invocation) throws {
        if invocation.clearsSetup {
            let files = [locations.galleriesFile, locations.placesFile, locations.placeFile]
            for path in files where unlink(path) != 0 && errno != ENOENT {
                throw SettingsError.file(path: path, reason: String(cString: strerror(errno)))
            }
        }
        if invocation.clearsCache {
            for gallery in try openCaches().galleries() { try gallery.remove() }
        }
    }
}
