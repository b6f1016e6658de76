import Dispatch
import Concurrency
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct OrderedWorkTests {
    @Test("Results are returned in the order of the work") func order() {
        let work = OrderedWork<Int>(Workers(name: "test", count: 2), capacity: 3)
        #expect(work.next() == nil && !work.isFull)
        // The first one waits for the second one to end.
        let gate = DispatchSemaphore(value: 0)
        work.add {
            gate.wait()
            return 1
        }
        work.add {
            gate.signal()
            return 2
        }
        work.add(done: 3)
        #expect(work.isFull)
        #expect([work.next(), work.next(), work.next(), work.next()] == [1, 2, 3, nil])
    }
}
