extension FetchedResults {
    /// The differences of a list, one after the other, each taken into the list as it is handed out.
    public struct Differences: AsyncSequence, Sendable {
        let results: FetchedResults

        /// Goes on where the last listener stopped.
        public func makeAsyncIterator() -> Iterator {
            Iterator(results: results)
        }

        /// Waits for the next difference.
        public struct Iterator: AsyncIteratorProtocol {
            let results: FetchedResults

            /// Waits for the next difference; nil when the task is cancelled.
            public mutating func next() async -> Difference? {
                await results.nextDifference()
            }
        }
    }
}
