extension FolderServer.Kind {
    /// Whether it lists folders that contain a name that is not UTF-8. For others, use `NastyTree(isText: true)`.
    public var listsAllBytes: Bool { self != .wsgidav }

    /// The ids of the photos of a tree that the server lists, in the order of their bytes.
    ///
    /// Some are other names than those of the files.
    public func ids(of tree: NastyTree) -> [String] {
        NastyTree.sorted(
            tree.ids.compactMap { id in
                switch (self, id) {
                case (.nginxHTML, Self.hidden), (.nginxJSON, Self.hidden), (.nginxXML, Self.hidden),
                    (.nginxDAV, Self.hidden), (.lighttpd, Self.hidden), (.copyparty, Self.hidden),
                    (.copypartyDAV, Self.hidden):
                    nil
                // It replaces control characters by pictures of them, also in addresses.
                case (.rcloneHTTP, Self.broken), (.rcloneDAV, Self.broken): "line\u{240A}break.jpg"
                // It writes the byte as a lone surrogate in UTF-8, which is not UTF-8 either.
                case (.pythonHTTPServer, Self.latin): "latin\u{FFFD}ED\u{FFFD}B3\u{FFFD}BC.jpg"
                case (.sabreDAV, Self.latin): nil
                default: id
                }
            })
    }

    /// The listed ids whose photos the server refuses.
    public var refusedIDs: [String] {
        self == .lighttpd ? [Self.latin, Self.broken] : []
    }

    private static let hidden = ".hidden.jpg"
    private static let broken = "line\nbreak.jpg"
    private static let latin = "latin\u{FFFD}FC.jpg"
}
