import Cache
import HTTP
import Model

extension GalleryCache {
    /// What the way to the gallery's list may lead to.
    ///
    /// A gallery from the network is a stranger, and may lead to nothing in the user's own network but the host that the user
    /// has named himself.
    ///
    /// - Parameter wasPublic: whether that host had a public address before. It must have one then: whoever owns the name can
    ///   have it lead into the user's network later.
    func listReach(wasPublic: Bool) -> HTTPRequest.Reach {
        address.scheme == .file ? .anywhere : .publicOnly(except: wasPublic ? nil : address.host)
    }

    /// What the gallery's pictures may lead to.
    ///
    /// One that lies in the user's own network may name its own host. One from the world may not, though it is the same name:
    /// who gives it out can let it lead anywhere, once the list is here. What a file on the user's disk names has come there
    /// with his knowledge.
    func pictureReach() throws -> HTTPRequest.Reach {
        guard address.scheme != .file else { return .anywhere }
        // Of a list that an older Vitrine has fetched it is not known.
        let isPrivate = try read { try $0.gallery() }.isPrivate ?? true
        return .publicOnly(except: isPrivate ? address.host : nil)
    }
}
