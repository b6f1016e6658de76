import Foundation

/// Tells whether the tests run under a sanitizer.
public enum Sanitizer {
    /// Sanitizers reserve terabytes of addresses; the helper, which allows itself a gigabyte, cannot start under them.
    public static var isOn: Bool {
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }
}
