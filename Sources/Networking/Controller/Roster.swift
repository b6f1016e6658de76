/// A dictionary for very much, in which everything has a number as long as it is there.
///
/// Numbers are small: whatever else is known of some of it can be kept by them, in an array or under a short key. What has
/// gone leaves its number to what comes.
///
/// A dictionary's buckets hold whole keys and values, and a quarter to five eighths of them are empty. Here the buckets are
/// four bytes each, and what they lead to stands side by side.
struct Roster<Key: Hashable, Value> {
    private var entries: [(key: Key, value: Value)?] = []
    /// Numbers without an entry.
    private var free: [Int32] = []
    /// Numbers by the hashes of their keys: in the bucket that the hash names, or in the first one behind it that was free.
    /// There are so many buckets as a power of two, and at least a quarter of them are free.
    private var buckets: [Int32] = []
    private static var none: Int32 { -1 }

    /// How much is there.
    var count: Int { entries.count - free.count }

    /// The numbers of all of it, from the smallest.
    var numbers: some Sequence<Int> { entries.indices.lazy.filter { [entries] in entries[$0] != nil } }

    /// Its number; nil if it is not there.
    func number(of key: Key) -> Int? {
        bucket(of: key).map { Int(buckets[$0]) }
    }

    func key(_ number: Int) -> Key { entries[number]!.key }

    subscript(number: Int) -> Value {
        get { entries[number]!.value }
        set { entries[number]!.value = newValue }
    }

    /// Makes room for so much at once.
    mutating func reserve(_ count: Int) {
        entries.reserveCapacity(count)
        if count > mostFilled { spread(over: count) }
    }

    /// Takes in what is not there, and gives it a number.
    mutating func add(_ key: Key, _ value: Value) -> Int {
        if count >= mostFilled { spread(over: count + 1) }
        let number = free.popLast() ?? Int32(entries.count)
        if number == entries.count { entries.append((key, value)) } else { entries[Int(number)] = (key, value) }
        buckets[firstFree(from: home(of: key))] = number
        return Int(number)
    }

    mutating func remove(_ number: Int) {
        guard let found = bucket(of: key(number)) else { return }
        entries[number] = nil
        free.append(Int32(number))
        if count == 0 { return self = Roster() }
        close(found)
    }

    private var mostFilled: Int { buckets.count / 4 * 3 }

    private func home(of key: Key) -> Int { key.hashValue & (buckets.count - 1) }

    private func next(_ bucket: Int) -> Int { (bucket + 1) & (buckets.count - 1) }

    private func bucket(of key: Key) -> Int? {
        guard !buckets.isEmpty else { return nil }
        var bucket = home(of: key)
        while buckets[bucket] != Self.none {
            if entries[Int(buckets[bucket])]?.key == key { return bucket }
            bucket = next(bucket)
        }
        return nil
    }

    private func firstFree(from home: Int) -> Int {
        var bucket = home
        while buckets[bucket] != Self.none { bucket = next(bucket) }
        return bucket
    }

    /// Empties a bucket, and draws up what stands behind it for the lack of room: it would not be found past an empty one.
    private mutating func close(_ emptied: Int) {
        var (empty, bucket) = (emptied, next(emptied))
        while buckets[bucket] != Self.none {
            // How far it stands from where it belongs, and how far the empty one is from it.
            let distance = (bucket - home(of: key(Int(buckets[bucket])))) & (buckets.count - 1)
            if distance >= (bucket - empty) & (buckets.count - 1) {
                buckets[empty] = buckets[bucket]
                empty = bucket
            }
            bucket = next(bucket)
        }
        buckets[empty] = Self.none
    }

    private mutating func spread(over count: Int) {
        var size = max(buckets.count, 16)
        while size / 4 * 3 < count { size *= 2 }
        buckets = Array(repeating: Self.none, count: size)
        for number in numbers { buckets[firstFree(from: home(of: key(number)))] = Int32(number) }
    }
}
