import Commands
import Model

/// What is done with the photo that is looked at.
extension PhotoScreen {
    /// Obeys a command that is about the photo. Returns whether it was.
    func act(on command: Command) -> Bool {
        switch command {
        case .showInList:
            delegate?.leaveFilter()
            send(.back)
        case .delete: delete()
        case _ where PhotoActions.commands.contains(command):
            PhotoActions(context, cache: results.cache, from: self).perform(command, on: [key])
        default: return false
        }
        return true
    }

    /// Nobody looks at it any more then: else it would be fetched again at once.
    private func delete() {
        guard let delegate, photo?.original.held != nil else {
            return send(.notice("It is not here, so there is nothing to delete."))
        }
        send(.back)
        PhotoActions(context, cache: results.cache, from: delegate).perform(.delete, on: [key])
    }
}
