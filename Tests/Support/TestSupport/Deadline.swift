import Testing

extension Trait where Self == TimeLimitTrait {
    /// For tests that would wait for ever for what never comes: they fail then, and the others go on.
    ///
    ///     @Test(.unlessItHangs) func itEnds() async { … }
    ///
    /// It says nothing of how long a test may take. A limit that is near enough to be reached on a machine with other things to
    /// do fails tests that are well.
    public static var unlessItHangs: Self { .timeLimit(.minutes(20)) }
}
