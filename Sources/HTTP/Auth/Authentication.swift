import CCurl

/// The ways of saying who one is that are tried with one server or proxy.
///
/// curl asks once without a password, and then chooses. Where a password has been taken in the plain way before, it is sent
/// at once: otherwise each thumbnail would be asked for twice.
struct Authentication {
    /// curl's own bits.
    struct Methods: OptionSet, Hashable {
        let rawValue: Int

        static let basic = Methods(rawValue: ccurl_basic())
        static let digest = Methods(rawValue: ccurl_digest())
        static let negotiate = Methods(rawValue: ccurl_negotiate())
        /// Those that a password is for. Never NTLM, which is broken.
        static let password: Methods = [.basic, .digest]
    }

    /// What curl may choose from now.
    private(set) var methods: Methods
    /// All that it could choose from so far.
    private var tried: Methods

    /// - Parameter known: what worked before.
    init(known: Methods?) {
        methods = known ?? .password
        tried = methods
    }

    /// What is left to try when the answer is still no; nil if nothing is.
    ///
    /// Negotiate is for where no password will do, though curl would choose it first: it speaks for whoever is logged in on
    /// this machine, and curl does not go on to a password where that is nobody.
    func next(offered: [HTTPChallenge]) -> Authentication? {
        let schemes = Set(offered.map(\.scheme))
        var open: Methods = []
        if schemes.contains("basic") { open.insert(.basic) }
        if schemes.contains("digest") { open.insert(.digest) }
        if open.isEmpty, schemes.contains("negotiate") { open = .negotiate }
        open.subtract(tried)
        guard !open.isEmpty else { return nil }
        var next = self
        next.methods = open
        next.tried.formUnion(open)
        return next
    }

    /// What is worth knowing of an exchange that went well, by what was on offer when it was asked for a password: nothing
    /// if it was not.
    func learned(fromOffer offer: Methods) -> Methods? {
        let possible = methods.intersection(offer)
        // A digest is of what the server says each time; it cannot be sent at once.
        return possible == .basic || possible == .negotiate ? possible : nil
    }
}
