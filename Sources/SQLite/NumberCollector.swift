import CSQLite

/// An aggregate function of our own that hands each number of a result to Swift, as SQLite comes to it: a result of half a
/// million numbers takes half the time that it takes row by row.
final class NumberCollector {
    /// What it is called in SQL.
    static let name = "vitrine_collect"

    /// Numbers that have come and were not handed on yet.
    private struct Heap {
        var count = 0
        let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
        var handOn: () -> Void = {}
    }

    private static let capacity = 4_096
    private let heap = UnsafeMutablePointer<Heap>.allocate(capacity: 1)

    /// Makes the function known to a connection, which must not be used after this is gone.
    init(_ database: OpaquePointer) throws(SQLiteError) {
        heap.initialize(to: Heap())
        // DIRECTONLY: it can be called from statements, and from no view or trigger that a database brings along.
        let code = sqlite3_create_function_v2(
            database, Self.name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, heap, nil,
            { context, _, values in
                guard let data = sqlite3_user_data(context), let value = values?[0] else { return }
                let heap = data.assumingMemoryBound(to: Heap.self)
                heap.pointee.numbers[heap.pointee.count] = sqlite3_value_int64(value)
                heap.pointee.count += 1
                if heap.pointee.count == NumberCollector.capacity { heap.pointee.handOn() }
            }, { sqlite3_result_null($0) }, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: database, sql: Self.name) }
    }

    deinit {
        heap.pointee.numbers.deallocate()
        heap.deinitialize(count: 1)
        heap.deallocate()
    }

    /// Runs what calls the function, and hands on what it is called with.
    func collect(_ body: (Int64) -> Void, while run: () throws -> Void) rethrows {
        try withoutActuallyEscaping(body) { body in
            heap.pointee.count = 0
            heap.pointee.handOn = { [heap] in
                for index in 0..<heap.pointee.count { body(heap.pointee.numbers[index]) }
                heap.pointee.count = 0
            }
            defer { heap.pointee.handOn = {} }
            try run()
            heap.pointee.handOn()
        }
    }
}
