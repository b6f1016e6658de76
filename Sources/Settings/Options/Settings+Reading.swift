extension Settings {
    /// What holds when newer settings are read while the program runs: those that can be another matter from one frame to the
    /// next. The rest is put together when the program starts, and stays.
    ///
    /// - Returns: what holds now, and the names of the options that hold from the next start.
    public func adopting(_ new: Settings) -> (settings: Settings, waiting: [String]) {
        var adopted = new
        (adopted.cacheFolder, adopted.cacheLimit) = (cacheFolder, cacheLimit)
        (adopted.logFile, adopted.logLevel) = (logFile, logLevel)
        (adopted.offline, adopted.transfers, adopted.caFile, adopted.netrc) = (offline, transfers, caFile, netrc)
        (adopted.clientCertificate, adopted.clientKey) = (clientCertificate, clientKey)
        adopted.clientCertificateHost = clientCertificateHost
        (adopted.openWith, adopted.exportFolder) = (openWith, exportFolder)
        (adopted.debugDelay, adopted.debugFailures) = (debugDelay, debugFailures)
        let waiting = SettingsTable.options.filter { $0.text(in: adopted) != $0.text(in: new) }.map(\.name)
        return (adopted, waiting)
    }
}
