/// Which version this is.
enum Version {
    static let number = "0.1"
}
