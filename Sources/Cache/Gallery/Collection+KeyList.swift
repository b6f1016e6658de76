extension Collection where Element == Int64 {
    /// As one bound value, however many they are: `key IN (SELECT value FROM json_each(?))`.
    var keyList: String { "[" + map(String.init).joined(separator: ",") + "]" }
}
