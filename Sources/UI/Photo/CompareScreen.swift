import Cache
import Cells
import Commands
import Concurrency
import Model
import Pictures
import Session
import Text

/// The screen that shows two photos side by side, to choose the better one.
///
/// Zooming and scrolling move both photos, so that both show the same part. All other commands concern the selected
/// photo: rating, actions, and going to the next photo of the list.
@MainActor
final class CompareScreen: Screen {
    /// One of the two photos.
    private struct Side {
        var key: PhotoKey
        /// The photo's entry in the cache; nil after an update removed the photo.
        var photo: Photo?
        /// The photo's exposure and similar facts, as far as the cache knows them.
        var facts = ""
        let picture: PhotoPicture
        /// The area of the picture in the last frame.
        var frame = Rect(Size(columns: 0, rows: 0))
    }

    private let results: FetchedResults
    /// The marked photos to choose among; empty for the whole list.
    private let marked: [PhotoKey]
    private var sides: [Side]
    /// The index of the selected photo in ``sides``.
    private var selected = 0
    /// The cell under the mouse while the user drags the pictures.
    private var grip: Point?
    private var isOnTop = false
    private let throttle: Throttle
    private let wisher: Wishes.Wisher
    private let client: PicturePipeline.Client

    /// Creates the screen for several photos, or for a photo and the one beside it in the list. Returns nil if the list
    /// has no other photo.
    init?(_ context: ScreenContext, _ results: FetchedResults, _ keys: [PhotoKey]) {
        self.results = results
        marked = keys.count > 1 ? keys : []
        let pair: [PhotoKey]
        if keys.count > 1 {
            pair = Array(keys.prefix(2))
        } else {
            guard let first = keys.first else { return nil }
            let beside = [1, -1].compactMap { step in
                results.stepOrigin(of: first, by: step).flatMap { results.key(at: $0 + step) }
            }
            pair = beside.first.map { [first, $0] } ?? []
        }
        guard pair.count == 2 else { return nil }
        sides = pair.map { Side(key: $0, picture: PhotoPicture($0, in: results.cache.id, context)) }
        throttle = Throttle(wait: context.wait)
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
        super.init(context)
        throttle.action = { [weak self] in if self?.isOnTop == true { self?.setNeedsDisplay() } }
        for side in sides { side.picture.onChange = { [weak self] in self?.setNeedsDisplay() } }
        readPhotos()
    }

    private var gallery: GalleryID { results.cache.id }
    private func subject(_ side: Side) -> Wish.Subject { .picture(gallery, side.key, .original) }

    // MARK: - Texts

    override var scopes: [CommandTable.Scope] { [.comparison, .rating, .everywhere] }
    override var commandScopes: [CommandTable.Scope] { scopes + [.photo] }

    /// The photo screen's commands that have an effect on a side of the comparison. Vitrine would fetch a deleted photo
    /// again at once.
    private static let photoCommands = PhotoActions.commands.subtracting([.compare, .delete]).union([
        .fill, .turnLeft, .turnRight,
    ])

    override func offers(_ entry: CommandTable.Entry) -> Bool {
        entry.scope != .photo || Self.photoCommands.contains(entry.command)
    }

    override var heading: Heading {
        let indexes = sides.compactMap { marked.isEmpty ? results.index(of: $0.key) : marked.firstIndex(of: $0.key) }
        let positions = indexes.map { NumberFormat.current.text($0 + 1) }
        let view = sides[selected].picture.view
        let scale = view.zoom == .fit ? "fit" : view.percent.map { "\($0) %" }
        let standing =
            positions.isEmpty
            ? CountText.text(count, "photo")
            : "\(positions.joined(separator: " and ")) of \(NumberFormat.current.text(count))"
        return Heading(
            title: "Compare", detail: [standing, scale].compactMap { $0 }.joined(separator: " · "), brief: standing)
    }

    override var footing: Footing {
        var footing = Footing(text: "")
        footing.hints = [
            (.otherSide, "other"), (.fiveStars, "five stars"), (.reject, "reject"), (.keepSide, "keep"),
            (.zoomIn, "larger"), (.help, "help"),
        ]
        return footing
    }

    // MARK: - The photos to choose among

    private var count: Int { marked.isEmpty ? results.count : marked.count }

    /// Returns the index from which to count steps away from a photo, which a filter may exclude after a rating.
    private func origin(of key: PhotoKey, by step: Int) -> Int? {
        marked.isEmpty ? results.stepOrigin(of: key, by: step) : marked.firstIndex(of: key)
    }

    private func key(at index: Int) -> PhotoKey? {
        guard index >= 0, index < count else { return nil }
        return marked.isEmpty ? results.key(at: index) : marked[index]
    }

    /// Returns the next photo in a direction, except the two photos on the screen.
    private func next(from index: Int, by step: Int) -> PhotoKey? {
        var index = index + step
        while let key = key(at: index) {
            if !sides.contains(where: { $0.key == key }), (try? results.photo(key)) != nil { return key }
            index += step
        }
        return nil
    }

    /// The photo after both photos on the screen.
    private var nextAfterBoth: PhotoKey? {
        sides.compactMap { origin(of: $0.key, by: 1) }.max().flatMap { next(from: $0, by: 1) }
    }

    private func step(_ side: Int, by step: Int) {
        guard let origin = origin(of: sides[side].key, by: step), let next = next(from: origin, by: step) else {
            return send(.notice(step > 0 ? "This is the last photo." : "This is the first photo."))
        }
        show(next, on: side)
    }

    /// Keeps the selected photo, and replaces the other one by the photo after both.
    private func keepSelected() {
        guard let next = nextAfterBoth else { return send(.notice("No more photos to compare.")) }
        show(next, on: 1 - selected)
    }

    private func show(_ key: PhotoKey, on side: Int) {
        sides[side].picture.change(to: key, like: sides[1 - side].picture.view)
        sides[side].key = key
        readPhotos()
        stateWishes()
    }

    // MARK: - Commands

    override func perform(_ command: Command) -> Bool {
        // As long as a part of a photo is hidden, the keys move the pictures.
        let areWhole = sides.allSatisfy { $0.picture.view.isWhole }
        switch command {
        case .otherSide: selected = 1 - selected
        case .left where areWhole: selected = 0
        case .right where areWhole: selected = 1
        case .keepSide: keepSelected()
        case .previousPhoto: step(selected, by: -1)
        case .nextPhoto: step(selected, by: 1)
        case .zoomIn: moveViews { $0.zoomIn() }
        case .zoomOut: moveViews { $0.zoomOut() }
        case .actualSize: moveViews { $0.zoomToActualSize() }
        case .fit: moveViews { $0.zoomToFit() }
        case .fill: moveViews { $0.zoomToFill() }
        case .left: moveViews { $0.step(columns: -1, rows: 0) }
        case .right: moveViews { $0.step(columns: 1, rows: 0) }
        case .up: moveViews { $0.step(columns: 0, rows: -1) }
        case .down: moveViews { $0.step(columns: 0, rows: 1) }
        case .turnLeft: sides[selected].picture.turn(by: -1)
        case .turnRight: sides[selected].picture.turn(by: 1)
        case _ where PhotoActions.commands.contains(command):
            PhotoActions(context, results: results, from: self).perform(command, on: [sides[selected].key])
        default: return false
        }
        return true
    }

    private func moveViews(_ change: (inout Viewport) -> Void) {
        for side in sides { change(&side.picture.view) }
        // A photo that has not arrived has no size, and cannot zoom by itself.
        for (index, side) in sides.enumerated() where side.picture.view.percent == nil {
            let other = sides[1 - index].picture.view
            if other.percent != nil { side.picture.follow(other) }
        }
    }

    /// Zooms both photos with the mouse wheel, drags both, and selects a photo by a click.
    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        guard let side = sides.firstIndex(where: { $0.frame.contains(mouse.position) }) else { return false }
        let position = Point(
            column: mouse.position.column - sides[side].frame.origin.column,
            row: mouse.position.row - sides[side].frame.origin.row)
        switch mouse.action {
        case .wheelUp: moveViews { $0.zoomIn(around: position) }
        case .wheelDown: moveViews { $0.zoomOut(around: position) }
        case .press(1):
            grip = mouse.position
            selected = side
        case .drag(1):
            guard let grip else { return false }
            moveViews { $0.pan(columns: grip.column - mouse.position.column, rows: grip.row - mouse.position.row) }
            self.grip = mouse.position
        case .release:
            grip = nil
            return false
        default: return false
        }
        return true
    }

    // MARK: - Events

    override func modelUpdated(_ update: ModelUpdate) {
        let subjects = sides.map(subject)
        switch update {
        // The list of all photos reports changes of a photo that the filter or folder does not contain.
        case .results(let results, _) where results.cache.id == gallery:
            readPhotos()
            guard sides.allSatisfy({ $0.photo != nil }) else { return leaveIfGone() }
            if isOnTop { stateWishes() }
        case .activity(let change) where subjects.contains(where: change.pictures.contains):
            for side in sides where side.photo?.original.held == nil {
                side.picture.setProgress(context.activity.progress(of: subject(side)))
            }
            return throttle.signal()
        case .pictures(let orders)
        where orders.contains(where: { order in sides.contains { $0.key == order.subject.photo } }):
            break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    /// Reads the entries of both photos from the cache. After a failure, the previous entries stay.
    private func readPhotos() {
        for side in sides.indices {
            do {
                sides[side].photo = try results.photo(sides[side].key)
                let stored = try results.cache.read { try $0.metadata(of: sides[side].key) }
                sides[side].facts = stored.map { MetadataText($0.metadata).settings ?? "" } ?? ""
            } catch {
                context.log.error(.cache, "\(error)")
            }
        }
    }

    private func leaveIfGone() {
        guard isOnTop, sides.contains(where: { $0.photo == nil }) else { return }
        send(.back)
        send(.notice("One of the compared photos is no longer in the gallery."))
    }

    override func didAppear() {
        isOnTop = true
        readPhotos()
        guard sides.allSatisfy({ $0.photo != nil }) else { return leaveIfGone() }
        stateWishes()
    }

    override func didDisappear() {
        isOnTop = false
        grip = nil
        context.pipeline.want([], by: client)
    }

    private func stateWishes() {
        let near = nextAfterBoth.flatMap { (try? results.photo($0))?.isRemoteVideo == true ? nil : $0 }
        context.wishes.state(
            sides.filter { $0.photo?.isRemoteVideo != true }.map { Wish(subject($0), importance: .lookedAt) }
                + [near.map { Wish(.picture(gallery, $0, .original), importance: .near) }].compactMap { $0 }, by: wisher
        )
    }

    override func withdrawWishes() { context.wishes.withdraw(wisher) }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        // Both halves have the same width, so that both show the same part at the same size.
        let width = (rest.size.columns - 1) / 2
        let halves = [rest.takeLeft(width), rest.takeRight(width)]
        var orders: [PictureOrder] = []
        for side in sides.indices {
            orders += drawSide(side, in: &surface, halves[side])
        }
        if isOnTop { context.pipeline.want(orders, by: client, importance: .lookedAt) }
    }

    /// Draws a photo with its texts below. Returns requests for the pictures to draw.
    private func drawSide(_ index: Int, in surface: inout Surface, _ frame: Rect) -> [PictureOrder] {
        var rest = frame
        drawTexts(of: index, in: &surface, rest.takeBottom(frame.size.rows < 8 ? 1 : 2))
        sides[index].frame = rest
        let side = sides[index]
        side.picture.view.size = rest.size
        side.picture.view.style = context.drawingStyle
        guard let photo = side.photo else { return [] }
        let orders = side.picture.update(photo, [], isExamined: true)
        let failure = failure(of: side)
        if failure != nil { side.picture.removeForeign() }
        side.picture.draw(in: &surface, rest)
        if let failure, !side.picture.isShown || photo.original.held == nil {
            side.picture.draw("Load failed: \(failure)", context.theme.trouble, in: &surface, rest)
        } else if !side.picture.isShown, photo.isRemoteVideo, photo.original.held == nil {
            side.picture.draw("The server has no preview of this video.", context.theme.detail, in: &surface, rest)
        } else if !side.picture.isShown {
            let fraction = context.activity.progress(of: subject(side))?.fraction
            side.picture.draw("Loading…", context.theme.detail, fraction: fraction, in: &surface, rest)
        }
        return orders
    }

    private func failure(of side: Side) -> Failure? {
        if let trouble = side.photo?.original.trouble { return trouble.failure }
        if let photo = side.photo, photo.original.held == nil,
            let failure = context.offlineFailure(of: photo, in: subject(side).gallery)
        {
            return failure
        }
        return context.activity.failure(of: subject(side)) ?? side.picture.failure(of: side.photo)
    }

    /// Draws the name, the rating and the exposure of a photo. The selected photo has a selection mark.
    private func drawTexts(of index: Int, in surface: inout Surface, _ frame: Rect) {
        let (side, theme) = (sides[index], context.theme)
        guard let photo = side.photo else { return }
        var rest = frame
        let isSelected = index == selected
        let mark = rest.takeLeft(2)
        if isSelected { surface.write(theme.signs.mark, in: mark, style: theme.mark) }
        let rating = RatingText.text(photo.rating, isPlain: !context.capabilities.unicode)
        let nameStyle = isSelected ? theme.selectedName : theme.name
        let line = rest.takeTop(1)
        guard rest.size.rows > 0 else {
            var fitted = FittedLine()
            fitted.add(rating)
            fitted.add(photo.name.madeVisible, least: 6)
            surface.write(fitted.text(width: line.size.columns), in: line, style: nameStyle)
            return
        }
        surface.write(photo.name.truncated(toWidth: line.size.columns), in: line, style: nameStyle)
        var facts = FittedLine()
        facts.add(rating)
        facts.add(side.facts, isOptional: true)
        facts.add(photo.size.map { ByteText.text($0) }, isOptional: true)
        surface.write(facts.text(width: rest.size.columns), in: rest, style: theme.detail)
    }
}
