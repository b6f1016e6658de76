import CConcurrency

/// How the program keeps its memory.
public enum ProgramMemory {
    /// Has memory go back to the system when it is let go in large pieces.
    ///
    /// "Nowadays, glibc uses a dynamic mmap threshold by default": once a large piece has been let go, all that are smaller
    /// are kept, by each thread for itself, and twice as much of what is free at the end. A gallery's list goes from thread
    /// to thread in large pieces, and left that memory in shreds: the longer the list, the more of it. To name a threshold
    /// is to have it stay. Call it once, at the program's beginning.
    public static func returnLargePieces() {
        cconcurrency_map_from(1 << 20)
    }
}
