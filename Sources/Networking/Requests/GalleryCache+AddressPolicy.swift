import Cache
import Glibc
import HTTP
import Model

extension GalleryCache {
    /// What the way to the gallery's list may lead to.
    ///
    /// A gallery from the network is a stranger, and may lead to nothing in the user's own network but the host that the user
    /// has named himself. A list that the user has named may be a link to anywhere; one that is found in a folder stays in it.
    ///
    /// - Parameter wasPublic: whether that host had a public address before. It must have one then: whoever owns the name can
    ///   have it lead into the user's network later.
    func listAddressPolicy(wasPublic: Bool) -> HTTPRequest.AddressPolicy {
        guard address.scheme == .file else { return .publicOnly(except: wasPublic ? nil : address.host) }
        return isFolder ? .filesBelow(address.text) : .anywhere
    }

    /// Whether the gallery's address is that of a folder on this machine.
    var isFolder: Bool {
        guard let path = address.filePath else { return false }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// What the gallery's pictures may lead to.
    ///
    /// One that lies in the user's own network may name its own host. One from the world may not, though it is the same name:
    /// who gives it out can let it lead anywhere, once the list is here. One on this machine has been copied there, or unpacked,
    /// with all links that came along: its pictures lie in its folder. Hosts that it names are the user's business.
    func pictureAddressPolicy() throws -> HTTPRequest.AddressPolicy {
        guard address.scheme != .file else { return .filesBelow(isFolder ? address.text : address.folder.text) }
        // Of a list that an older Vitrine has fetched it is not known.
        let isPrivate = try read { try $0.gallery() }.isPrivate ?? true
        return .publicOnly(except: isPrivate ? address.host : nil)
    }
}
