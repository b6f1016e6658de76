import Cache
import Session
import Model

extension RequestContext {
    /// Notes that somebody wanted to know who asks, and was not satisfied.
    ///
    /// First it is seen whether there is an answer already: one that came meanwhile, or that an earlier run has kept. Only
    /// then the user is asked, unless the question is put off.
    ///
    /// - Parameter sent: what the server was told.
    func note(_ question: SignInQuestion?, afterSaying sent: SignIn?, in cache: GalleryCache) async {
        guard var question else { return }
        question.galleries = [cache.id]
        // What a proxy was told has been noted as refused where it was refused.
        let refused = question.isProxy ? nil : sent
        if await caches.credentials.hasOther(than: refused, for: question.place, in: cache.address) {
            activity.noteAnswer(for: cache.id)
        } else if !question.isDeferred {
            activity.ask(question)
        }
    }
}
