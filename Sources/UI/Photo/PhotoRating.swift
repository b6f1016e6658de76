import Cache
import Cells
import Commands
import Model
import Text

/// Rates photos for the user: asks for the rating, stores it, and reports it.
///
///     PhotoRating(context, cache: cache, from: self).perform(.fourStars, on: keys)
@MainActor
struct PhotoRating {
    private let context: ScreenContext
    private let cache: GalleryCache
    /// The responder that sends notices and questions. It may be released before a rating is stored.
    private weak var sender: Responder?

    init(_ context: ScreenContext, cache: GalleryCache, from sender: Responder?) {
        (self.context, self.cache, self.sender) = (context, cache, sender)
    }

    /// The commands that give stars, in the order of the stars.
    private static let stars: [Command] = [.noStars, .oneStar, .twoStars, .threeStars, .fourStars, .fiveStars]

    /// The commands that ``perform(_:on:)`` accepts.
    static let commands = Set(stars + [.rate, .reject, .unrate])

    /// Rates photos, or asks for their rating.
    func perform(_ command: Command, on keys: [PhotoKey]) {
        if command == .rate { ask(keys) } else { rate(keys, Self.rating(command)) }
    }

    /// Returns the rating that a command gives; nil for the rating in the gallery's list.
    private static func rating(_ command: Command) -> Rating? {
        command == .reject ? .rejected : stars.firstIndex(of: command).map { Rating($0) }
    }

    /// Returns the command that gives a number of stars. Returns nil if the number is too large.
    static func command(stars count: Int) -> Command? { stars.indices.contains(count) ? stars[count] : nil }

    private func ask(_ keys: [PhotoKey]) {
        let bindings = context.keys
        let entries = bindings.entries.filter { $0.scope == .rating && !$0.keys.isEmpty }
        let choices = entries.map { entry -> Choice in
            // A letter in upper case gives the same answer, unless the user's key bindings give it another one.
            let upper = entry.keys.compactMap(\.upperCase).filter { bindings.command(for: $0, in: [.rating]) == nil }
            return Choice(entry.keys + upper, word(entry.command)) { [self] in perform(entry.command, on: keys) }
        }
        sender?.send(.choose("Rate \(CountText.text(keys.count, "photo")):", choices, otherwise: "cancel"))
    }

    private func word(_ command: Command) -> String {
        switch command {
        case .noStars: "no stars"
        case .reject: "reject"
        case .unrate: "gallery’s rating"
        default: Self.rating(command).map { RatingText.text($0, isPlain: !context.capabilities.unicode) } ?? ""
        }
    }

    private func rate(_ keys: [PhotoKey], _ rating: Rating?) {
        let isPlain = !context.capabilities.unicode
        Task { [cache, sender] in
            do {
                let count = try await cache.writer.rate(keys, rating)
                // The screen already shows the new rating of a single photo.
                guard count != 1 else { return }
                let text = rating.map { $0 == .none ? "no stars" : RatingText.text($0, isPlain: isPlain) }
                sender?.send(
                    .notice("\(CountText.text(count, "photo")): \(text ?? "gallery’s rating").".madeVisible))
            } catch {
                sender?.send(.notice("\(error)"))
            }
        }
    }
}

/// The text of a rating.
enum RatingText {
    /// Returns the rating's stars, or the word for a rejected photo. Returns an empty text without stars.
    ///
    /// - Parameter isPlain: whether to use ASCII characters.
    static func text(_ rating: Rating, isPlain: Bool) -> String {
        rating == .rejected ? "rejected" : String(repeating: isPlain ? "*" : "★", count: rating.stars)
    }
}
