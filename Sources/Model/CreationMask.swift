/// The user's file creation mask (umask), which Vitrine applies to new files of the user.
///
///     let mask = CreationMask(0o022)
///     mask.file(inFolder: 0o1777)     // 0o644
///     mask.file(inFolder: 0o2775)     // 0o644; with the mask 0o002 it would be 0o664
///
/// A new file gets the permissions of its folder, as far as the mask allows. "Others" never get write permission. The
/// group gets write permission only in a folder with the set-group-ID bit, which marks folders that a group shares. In
/// any other folder the file would belong to the user's primary group, which may have many members.
public struct CreationMask: Hashable, Sendable {
    private let bits: UInt32

    /// The mask of Vitrine's own files. Only the owner gets permissions.
    public static let ownerOnly = CreationMask(0o077)

    /// Creates a mask. As in `umask`, each set bit forbids a permission.
    public init(_ bits: UInt32) { self.bits = bits & 0o777 }

    /// Returns the permissions of a new file in a folder.
    ///
    /// - Parameter mode: the folder's mode.
    public func file(inFolder mode: UInt32) -> UInt32 { mode & 0o666 & allowed(in: mode) }

    /// Returns the permissions of a new subfolder.
    ///
    /// - Parameter mode: the outer folder's mode.
    public func folder(inFolder mode: UInt32) -> UInt32 { mode & 0o777 & allowed(in: mode) | mode & Self.setGroupID }

    /// Returns the permissions of a new folder whose path the user gave.
    ///
    /// - Parameter mode: the folder's initial mode. This mode has the set-group-ID bit if the outer folder has the bit.
    public func newFolder(_ mode: UInt32) -> UInt32 { 0o777 & allowed(in: mode) | mode & Self.setGroupID }

    private static let setGroupID: UInt32 = 0o2000

    private func allowed(in mode: UInt32) -> UInt32 {
        ~(bits | 0o002 | (mode & Self.setGroupID == 0 ? 0o020 : 0))
    }
}
