/// What a user does.
public enum InputEvent: Hashable, Sendable {
    /// A key was pressed.
    case key(Key)
    /// The mouse was moved or used.
    case mouse(Mouse)
    /// Text was pasted: it is text, whatever keys it would be.
    case paste(String)
    /// The terminal's window came to the front, or went from it.
    case focus(Bool)

    /// What a mouse did.
    public struct Mouse: Hashable, Sendable {
        /// What was done.
        public enum Action: Hashable, Sendable {
            /// A button went down; 1 is the left one.
            case press(Int)
            /// A button went up.
            case release(Int)
            /// The mouse moved with a button down.
            case drag(Int)
            /// The wheel was turned towards the top.
            case wheelUp
            /// The wheel was turned towards the bottom.
            case wheelDown
        }

        /// What was done.
        public let action: Action
        /// Where.
        public let position: Point
        /// Keys that were held.
        public let modifiers: Key.Modifiers

        /// An event.
        public init(_ action: Action, at position: Point, modifiers: Key.Modifiers = []) {
            self.action = action
            self.position = position
            self.modifiers = modifiers
        }
    }
}
