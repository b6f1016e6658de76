import Glibc
import Model
import SQLite

/// A gallery's cache as its room is counted.
struct CacheInventory: Hashable {
    /// A file of a database that was set aside.
    struct SetAside: Hashable {
        let name: String
        let size: Int64
        let time: Timestamp
    }

    /// Its folder's name.
    let name: String
    /// When somebody last looked at it; where nobody ever did, when it was last filled.
    var lastOpened: Timestamp
    /// When it was last looked at or filled.
    var lastUsed: Timestamp
    /// Open here or elsewhere, or not ours to touch.
    var isInUse = false
    /// Whether this process has it open, and can have it give something.
    var isOpenHere = false
    /// Whether it is to stay whatever room it takes.
    var isKept = false
    /// Whether the user's list of galleries has it.
    var isRemembered = true
    /// Whether its database can be read, if there is one.
    var isReadable = true
    /// Bytes of photos.
    var photos: Int64 = 0
    /// Bytes of the database.
    var database: Int64 = 0
    /// Whether the database would be smaller without its thumbnails, or without the room that they have left.
    var canShrink = false
    /// Bytes of files that could not be removed.
    var stuck: Int64 = 0
    var setAside: [SetAside] = []

    var size: Int64 { photos + database + stuck + setAside.reduce(0) { $0 + $1.size } }
}

extension CacheInventory {
    /// Counts what a cache on the disk takes.
    init(_ gallery: ClosedGalleryCache) {
        name = gallery.name
        // Each commit touches it, and nothing else does.
        let touched = gallery.touched
        let success = gallery.record?.lastSuccess
        lastOpened = gallery.record?.lastOpened ?? success ?? touched
        lastUsed = max(lastOpened, success ?? lastOpened)
        isKept = gallery.record?.isKept ?? false
        switch gallery.trouble {
        case nil: break
        case .database(.damaged): isReadable = false
        // One of a newer Vitrine, one that somebody has locked, one that is no cache at all.
        case .some: isInUse = true
        }
        photos = gallery.photosSize
        database = gallery.databaseSize
        canShrink = isReadable && gallery.canShrink
        setAside = gallery.setAside
    }

    /// Of a gallery that is open the file does not become smaller, but what is free in it is written to before it grows.
    mutating func noteOpen(free: Int64) {
        database = max(0, database - free)
    }
}
