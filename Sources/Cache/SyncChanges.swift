import Model

/// What a new list changes in the cache.
public struct SyncChanges: Sendable {
    /// An entry whose photo is known and looks different now.
    struct Alteration {
        let key: Int64
        let entry: GalleryEntry
        /// What has to be fetched anew.
        let affects: Set<Rendition>
    }

    /// The list that this was compared with; if another one is there by the time of the commit, it is void.
    let listVersion: Int64
    /// Rows that the new list has too. The others go.
    var seen: Set<Int64> = []
    var altered: [Alteration] = []
    var added: [GalleryEntry] = []
    /// Entries whose id had come before.
    var repeated = 0

    init(listVersion: Int64) {
        self.listVersion = listVersion
    }

    /// Photos that the new list has.
    public var count: Int { seen.count + added.count }
}
