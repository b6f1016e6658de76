import Cache
import Commands
import Model

/// The texts about the update of the albums: in the status line, and in place of an empty list.
struct AlbumTexts {
    /// The text for the status line.
    let status: String
    /// The text for a narrow window; nil if there is no shorter one.
    let brief: String?
    /// Whether the text reports a problem.
    let isTrouble: Bool
    private let title: String
    private let advice: [Advice]

    /// A sentence below the title of an empty list.
    private enum Advice {
        case again, cancel, check, fetch, isOffline, restart
    }

    /// - Parameters:
    ///   - isReading: whether the albums are being read.
    ///   - isAwaited: whether the albums were requested and have not arrived.
    ///   - retry: the time of the next attempt after a failure; nil if there is none.
    init(
        _ list: AlbumList, isReading: Bool, isAwaited: Bool, retry: Timestamp?, isOffline: Bool, now: Timestamp
    ) {
        let success = list.lastSuccess.map { "Updated: " + DateText.short($0) }
        let reason = list.trouble.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        isTrouble = !isReading && list.trouble != nil
        if isReading {
            (status, brief) = ("Updating…", nil)
        } else {
            let retry = isAwaited && reason != nil ? retry.map { "Retry at \(DateText.minute($0, now: now))" } : nil
            let parts = [retry, reason, success].compactMap { $0 }
            status = parts.isEmpty ? "Not updated" : parts.joined(separator: " · ")
            brief = reason.map { [retry, $0].compactMap { $0 }.joined(separator: " · ") }
        }
        let again = isOffline ? Advice.isOffline : .again
        switch (reason, list.lastSuccess) {
        case _ where isReading: (title, advice) = ("Fetching the albums…", [.cancel])
        case (let reason?, _): (title, advice) = (reason, [again])
        case (nil, _?): (title, advice) = ("This server has no albums.", [isOffline ? .isOffline : .check])
        case (nil, nil) where isAwaited: (title, advice) = ("Fetching the albums…", [])
        case (nil, nil) where isOffline: (title, advice) = ("The albums are not in the cache", [.isOffline, .restart])
        case (nil, nil): (title, advice) = ("Not fetched yet", [.fetch])
        }
    }

    /// Returns the text in place of an empty list.
    ///
    /// - Parameter key: returns the key of a command.
    @MainActor
    func emptyText(_ key: (Command) -> String) -> EmptyText {
        EmptyText(
            title: title,
            advice: advice.map { advice in
                switch advice {
                case .again: "Press \(key(.refresh)) to try again."
                case .cancel: "Press \(key(.stop)) to cancel."
                case .fetch: "Press \(key(.refresh)) to fetch the albums."
                case .check: "Press \(key(.refresh)) to check for albums."
                case .isOffline: "Vitrine is offline and fetches nothing."
                case .restart: "Restart without --offline to fetch the albums."
                }
            })
    }
}
