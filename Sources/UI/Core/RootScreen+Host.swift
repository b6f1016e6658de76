extension RootScreen {
    /// Functions of the program that the screens call.
    public struct Host {
        /// Called when the screens need a new frame.
        public var onNeedsDisplay: () -> Void = {}
        /// Called when the user quits.
        public var onQuit: () -> Void = {}
        /// Called when the user suspends the program.
        public var onSuspend: () -> Void = {}
        /// Called when the user redraws the whole screen.
        public var onRedraw: () -> Void = {}
        /// Called when the user asks for the settings file to be read again.
        public var onReload: () -> Void = {}
        /// Called with text for the terminal's clipboard.
        public var onCopy: (String) -> Void = { _ in }
    }
}
