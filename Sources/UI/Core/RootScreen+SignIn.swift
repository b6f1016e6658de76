import Cache
import Session
import Model

/// Who the user is: asked where a server wants to know, over whatever screen there is.
extension RootScreen {
    /// Takes in what has become of the questions.
    func followSignIns() {
        let questions = context.activity.questions
        if let prompt = signIn {
            if let same = questions.first(where: { $0.place == prompt.question.place }) {
                prompt.take(same)
            } else {
                signIn = nil
            }
        }
        askWhoTheUserIs()
        for gallery in context.activity.takeAnswered() { askAnew(for: gallery) }
        onNeedsDisplay()
    }

    /// Begins to ask, unless the user is in the middle of something that he types: he would type it into the prompt.
    func askWhoTheUserIs() {
        guard signIn == nil, isFree, let question = context.activity.questions.first else { return }
        // A proxy is nothing that a gallery names.
        let askers = question.isProxy ? [] : question.galleries
        let asker = askers.lazy.compactMap { self.context.caches.cache($0)?.address }
            .first { $0.origin != question.origin }
        let prompt = SignInPrompt(
            question, asker: asker.map { context.title(of: $0) }, keeping: context.settings.passwords,
            user: question.wasRefused ? context.caches.credentials.refusedUser(at: question.place) : nil)
        prompt.onAnswer = { [weak self, weak prompt] answer in
            guard let self, let prompt else { return }
            self.take(answer, to: prompt.question)
        }
        signIn = prompt
        onNeedsDisplay()
    }

    private func take(_ answer: SignInPrompt.Answer?, to question: SignInQuestion) {
        signIn = nil
        onNeedsDisplay()
        guard let answer else { return context.activity.declineQuestion(question.place) }
        let credentials = context.caches.credentials
        credentials.take(answer.signIn, for: question.place, by: question.galleries)
        context.activity.withdrawQuestion(question.place)
        for gallery in question.galleries { context.activity.recordAnswer(for: gallery) }
        guard answer.keeping != .session else { return }
        keeping = Task { [weak self, before = keeping] in
            let earlier = await before?.value
            let failure = await credentials.keep(answer.signIn, for: question.place, answer.keeping)
            guard let failure else { return earlier }
            self?.send(.notice("\(failure) It is kept until you quit."))
            return failure
        }
    }

    /// What was refused to a gallery is wished for again. Its list may be just about to be given up: then it is asked for
    /// when it has been.
    private func askAnew(for gallery: GalleryID) {
        guard let cache = context.caches.cache(gallery) else { return }
        Task { [weak self, context] in
            do { try await cache.writer.retry() } catch { context.log.error(.cache, "\(error)") }
            for await snapshot in context.wishes.snapshots() where snapshot.asked[.list(gallery)] == nil { break }
            // One that is not open may have been due for its update.
            if let photos = self?.openPhotos(of: gallery) {
                photos.askForUpdate()
            } else {
                context.wishes.ask(for: .list(gallery))
            }
        }
    }
}
