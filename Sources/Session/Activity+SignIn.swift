import Model

/// What the user is to be asked: who he is, where a server wants to know.
extension Activity {
    /// Notes a question. There is one of each place, however many things wait for its answer; and none where the user does
    /// not want to be asked.
    public func ask(_ question: SignInQuestion) {
        change { state in
            if let declined = state.declinedSignIns[question.place] {
                state.declinedSignIns[question.place] = declined.union(question.galleries)
            } else if let place = state.questions.firstIndex(where: { $0.place == question.place }) {
                var question = question
                question.galleries.formUnion(state.questions[place].galleries)
                state.questions[place] = question
            } else {
                state.questions.append(question)
            }
            return Change(hasSignIns: true)
        }
    }

    /// Takes back a question: it is answered, or needs no answer any more.
    public func withdrawQuestion(_ place: SignInPlace) {
        change { state in
            state.questions.removeAll { $0.place == place }
            return Change(hasSignIns: true)
        }
    }

    /// Takes back a question for good, until ``reconsiderQuestions(of:)``: the user does not want to say.
    public func declineQuestion(_ place: SignInPlace) {
        change { state in
            let galleries = state.questions.filter { $0.place == place }.reduce(into: Set()) {
                $0.formUnion($1.galleries)
            }
            state.questions.removeAll { $0.place == place }
            state.declinedSignIns[place, default: []].formUnion(galleries)
            return Change(hasSignIns: true)
        }
    }

    /// What was declined for a gallery is asked again, if it still needs to be: the user refreshes it.
    public func reconsiderQuestions(of gallery: GalleryID) {
        state.withLock { state in
            state.declinedSignIns = state.declinedSignIns.filter { !$0.value.contains(gallery) }
        }
    }

    /// What the user is to be asked, the oldest question first.
    public var questions: [SignInQuestion] {
        state.withLock { $0.questions }
    }

    /// Notes that a gallery can go on where it was refused: who asks is known now.
    public func noteAnswer(for gallery: GalleryID) {
        change { state in
            state.answered.insert(gallery)
            return Change(hasSignIns: true)
        }
    }

    /// Hands out the galleries that can go on, each once. What they were refused is to be asked for anew.
    public func takeAnswered() -> Set<GalleryID> {
        state.withLock { state in
            defer { state.answered = [] }
            return state.answered
        }
    }
}
