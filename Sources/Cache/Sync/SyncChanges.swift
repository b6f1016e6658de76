/// What a new list changes in the cache.
public struct SyncChanges: Sendable {
    /// The list that this was compared with; if another one is there by the time of the commit, it is void.
    let listVersion: Int64
    /// Rows that the new list has too. The others go.
    let seen: KeySet
    /// Photos that are new, and those that look different now.
    let items: SpooledItems
    /// How many of the items look different now.
    let altered: Int
    /// How many are new, some of which may turn out to be repeated.
    let added: Int
    /// Entries whose id had come before.
    let repeated: Int
    /// Bytes that the items take in the database, as far as that can be told.
    let room: Int64
}
