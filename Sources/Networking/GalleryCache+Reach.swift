import Cache
import HTTP
import Model

extension GalleryCache {
    /// What the gallery's pictures, and redirects, may lead to.
    ///
    /// A gallery from the network is a stranger, and may name nothing in the user's own network but the host that the user
    /// has named himself. What a file on the user's disk names has come there with his knowledge.
    var reach: HTTPRequest.Reach {
        address.scheme == .file ? .anywhere : .publicOnly(except: address.host)
    }
}
