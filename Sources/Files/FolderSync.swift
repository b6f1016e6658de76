import CFolder

/// Waits for a disk.
public enum FolderSync {
    /// Waits until the disk has all that was written to a folder's file system: one wait in place of one for each file.
    public static func syncAll(_ folder: Int32) throws(SystemError) {
        guard cfolder_sync_all(folder) == 0 else { throw SystemError() }
    }
}
