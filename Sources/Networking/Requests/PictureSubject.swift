import Cache
import Session
import Logging
import Model

/// The picture that a request is about, and what all requests for pictures note alike.
struct PictureSubject: Sendable {
    let cache: GalleryCache
    let key: PhotoKey
    let rendition: Rendition
    let source: RenditionSource
    let address: Address
    /// Who asks.
    let signIn: SignIn?
    let context: RequestContext

    /// The picture, if it has an address and is wanting.
    init?(
        _ rendition: Rendition, of key: PhotoKey, in gallery: GalleryID, _ context: RequestContext
    ) throws {
        guard let cache = context.caches.cache(gallery),
            let source = try cache.read({ try $0.wantingSource(of: key, rendition) }), let address = source.address
        else { return nil }
        self.cache = cache
        self.key = key
        self.rendition = rendition
        self.source = source
        signIn = cache.signIn(for: address)
        self.address = address
        self.context = context
    }

    /// Whether the user himself has named where it lies.
    var isNamedByUser: Bool { cache.isNamedByUser(address) }

    var identity: RequestIdentity { RequestIdentity(wish, edition: source.state.edition) }

    var wish: Wish.Subject { .picture(cache.id, key, rendition) }

    /// What is held may still be right, if it came from the same address.
    var validators: Validators { source.state.held == nil ? Validators() : source.validators }

    func noteProgress(_ progress: Progress?) {
        context.activity.setProgress(progress, of: wish)
    }

    /// The server says that what is held is right.
    func confirm() async throws {
        guard try await cache.writer.confirm(rendition, of: key, edition: source.state.edition) else {
            throw RequestError.nothingHeld
        }
    }

    /// Notes why it has failed for good: as bad, or as put off where another day may bring it.
    func noteFailed(_ failure: Failure) async {
        await note(failure.isTemporary ? .putOff(failure) : .bad(failure))
        await context.note(failure.question, afterSaying: signIn, in: cache)
    }

    func note(_ trouble: RenditionState.Trouble) async {
        switch trouble {
        case .putOff(let failure): context.log.info(.network, "\(address): \(failure); to be tried again")
        case .bad(let failure): context.log.error(.network, "\(address): \(failure)")
        }
        do {
            try await cache.writer.note(trouble, for: rendition, of: key, edition: source.state.edition)
        } catch {
            context.log.error(.cache, "\(error)")
            // Of a thumbnail nobody asks why; and there may be many.
            guard rendition == .original else { return }
            switch trouble {
            case .putOff(let failure), .bad(let failure): context.activity.setFailure(failure, of: wish)
            }
        }
    }
}
