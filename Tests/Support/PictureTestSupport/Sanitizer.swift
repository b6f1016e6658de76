import Foundation

/// Tells whether the tests run under a sanitizer.
public enum Sanitizer {
    /// Sanitizers reserve terabytes of addresses, so the decoder, which limits itself to a gigabyte, cannot start.
    public static var isOn: Bool {
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }
}
