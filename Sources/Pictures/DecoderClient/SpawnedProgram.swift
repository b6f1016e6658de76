import Glibc

/// What is done with every program that is started to decode.
enum SpawnedProgram {
    /// Starts the program at a path, with nothing of this one's environment. Its descriptors are those that `give` says, and what is open
    /// here by accident.
    static func start(
        _ path: String, _ arguments: [String], environment: [String] = [],
        _ give: (inout posix_spawn_file_actions_t) -> Void
    ) throws(PictureError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        give(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that are blocked here, for the sake of event sources, are none of its business either.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
        defer { environment.forEach { free($0) } }
        environment.append(nil)
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, &environment)
        guard ![EMFILE, ENFILE].contains(failure) else { throw .tooFewDescriptors }
        guard failure == 0 else { throw .cannotStart("\(path): \(String(cString: strerror(failure)))") }
        return process
    }

    /// Waits for a program's end. Returns the system's word of how it ended, 0 if all is well.
    @discardableResult
    static func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
