import Testing

extension Trait where Self == TimeLimitTrait {
    /// Fails a test that would wait for ever, so that the others continue.
    ///
    ///     @Test(.unlessItHangs) func itEnds() async { … }
    ///
    /// It does not limit the speed of tests. On a busy machine, a shorter limit would fail correct tests.
    public static var unlessItHangs: Self { .timeLimit(.minutes(20)) }
}
