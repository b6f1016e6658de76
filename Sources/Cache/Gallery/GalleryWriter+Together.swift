import SQLite

/// What is written together with whatever else wants to be written at the time.
extension GalleryWriter {
    /// Writes something small, in one transaction with all that is waiting to be written so. It is durable and announced when
    /// this returns, like everything else.
    ///
    /// What one of them finds, that its thumbnail is stale for one, is its own affair. That the disk is full is everybody's.
    ///
    /// - Parameters:
    ///   - size: bytes that it brings.
    ///   - isCancellable: whether a task that is cancelled before it is begun writes nothing, and throws.
    ///   - body: may be done a second time, when nothing is left of the first.
    nonisolated func together(
        size: Int = 0, isCancellable: Bool = true, _ body: @escaping @Sendable (Connection) throws -> Bool
    ) async throws -> Bool {
        try await shared.add(size: size, isCancellable: isCancellable, call: callForShared, body)
    }

    private nonisolated func callForShared() {
        executor.run { self.assumeIsolated { $0.writeShared() } }
    }

    private func writeShared() {
        write(shared.take())
        // Not at once: whoever else wants something of the writer is before those who came last.
        if shared.hasMore() { callForShared() }
    }

    private func write(_ writes: [SharedWrites.Write]) {
        guard !writes.isEmpty else { return }
        do {
            let results = try transaction { connection in try writes.map { try $0.body(connection) } }
            for (write, result) in zip(writes, results) { write.end(.success(result)) }
        } catch  where writes.count > 1 && CacheError(thrown: error)?.isTransient != true {
            // It is one's own: a page that only its row lies on is damaged. The others have nothing to do with it.
            for write in writes { self.write([write]) }
        } catch {
            for write in writes { write.end(.failure(error)) }
        }
    }
}
