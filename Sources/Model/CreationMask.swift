/// The user's file creation mask (umask), and the permissions that it gives to new files of the user's.
///
///     let mask = CreationMask(0o022)
///     mask.file(inFolder: 0o1777)     // 0o644
///     mask.file(inFolder: 0o2775)     // 0o644; with the mask 0o002 it would be 0o664
///
/// A new file is as open as its folder, as far as the mask allows. Everyone can never write to it, whatever the mask. The group
/// can write to it only in a folder with the set-group-ID bit, which people set where a group shares its files. In any other
/// folder the file would belong to the user's own group, and that may be a group of many.
public struct CreationMask: Hashable, Sendable {
    private let bits: UInt32

    /// Everything is for the owner alone, as Vitrine keeps its own files.
    public static let ownerOnly = CreationMask(0o077)

    /// Takes the bits as `umask` has them: those that are set are withheld.
    public init(_ bits: UInt32) { self.bits = bits & 0o777 }

    /// The permissions of a new file in a folder.
    ///
    /// - Parameter mode: the folder's mode.
    public func file(inFolder mode: UInt32) -> UInt32 { mode & 0o666 & allowed(in: mode) }

    /// The permissions of a new folder in a folder of the same gallery.
    ///
    /// - Parameter mode: the outer folder's mode.
    public func folder(inFolder mode: UInt32) -> UInt32 { mode & 0o777 & allowed(in: mode) | mode & Self.setGroupID }

    /// The permissions of a new folder that the user has named.
    ///
    /// - Parameter mode: the mode that the system gave it. It has the set-group-ID bit if the outer folder has it.
    public func newFolder(_ mode: UInt32) -> UInt32 { 0o777 & allowed(in: mode) | mode & Self.setGroupID }

    private static let setGroupID: UInt32 = 0o2000

    private func allowed(in mode: UInt32) -> UInt32 {
        ~(bits | 0o002 | (mode & Self.setGroupID == 0 ? 0o020 : 0))
    }
}
