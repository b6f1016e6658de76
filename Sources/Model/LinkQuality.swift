/// How well the network serves at the moment, in as many words as a user needs.
public enum LinkQuality: String, Hashable, Sendable, CaseIterable {
    /// Everything comes, and soon.
    case good
    /// It comes, with waits.
    case fair
    /// Little comes; what is not looked at has to wait.
    case poor
}
