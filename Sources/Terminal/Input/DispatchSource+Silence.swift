import Dispatch

extension DispatchSourceProtocol {
    /// Has it tell nothing any more, for good: for a program that is about to end.
    ///
    /// It is not cancelled. libdispatch for Linux gives up what it knows of a descriptor or a signal with its last source, on the
    /// thread that ends that one, while its own may still be going through it for the event that brought it about: now and
    /// then, that ended the program when its terminal went. So the source stays, and is kept: a suspended one must not be released.
    func silence() {
        suspend()
        _ = Unmanaged.passRetained(self as AnyObject)
    }
}
