import Glibc
import HTTP
import Networking
import Settings
import Scheduling

/// What the user has said of the network: in the settings, and in the environment.
extension Services {
    /// What holds for every transfer. Files that are named are looked at now: who wants to be known by one would
    /// otherwise be asked for a password in its place, and wonder.
    static func httpConfiguration(_ settings: Settings, _ locations: Locations) throws(SettingsError)
        -> HTTPConfiguration
    {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } }
        let certificates = settings.caFile ?? variable("CURL_CA_BUNDLE")
        for file in [settings.caFile, settings.clientCertificate, settings.clientKey] {
            if let file, access(file, R_OK) != 0 {
                throw .file(path: file, reason: String(cString: strerror(errno)))
            }
        }
        var configuration = HTTPConfiguration(
            userAgent: "Vitrine/" + Version.number, certificates: certificates, proxies: ProxyChoice(variable),
            netrc: try netrc(settings, locations),
            clientCertificate: settings.clientCertificate.map {
                ClientCertificate(file: $0, key: settings.clientKey ?? $0, host: settings.clientCertificateHost)
            })
        configuration.warmConnections = min(
            configuration.warmConnections, 1 + Invocation.Command.descriptorsToSpare / 4)
        return configuration
    }

    /// The one that the settings name, or the usual one if it is there. Passwords that others can read are none: the usual
    /// one is then left alone, as it may be there for other programs.
    private static func netrc(_ settings: Settings, _ locations: Locations) throws(SettingsError) -> String? {
        if let path = settings.netrc {
            try PrivateFile.check(path)
            return path
        }
        let usual = locations.home + "/.netrc"
        guard access(usual, F_OK) == 0 else { return nil }
        do throws(SettingsError) {
            try PrivateFile.check(usual)
            return usual
        } catch {
            Output.complain("\(error) It is not used.")
            return nil
        }
    }

    /// How the network is made worse on purpose.
    var disturbance: Disturbance {
        Disturbance(delay: .milliseconds(settings.debugDelay), failingEvery: settings.debugFailures)
    }

    /// What was found out about hosts in earlier runs. Without it, or where it cannot be read, all is found out anew.
    private var history: HostHistory {
        (try? PrivateFile.read(locations.networkFile)).flatMap { $0 }.map { HostHistory(text: $0) } ?? HostHistory()
    }

    /// Keeps it for the next one.
    func keep(_ history: HostHistory) {
        do {
            try PrivateFile.write(history.text, to: locations.networkFile)
        } catch {
            log.error(.network, "\(error)")
        }
    }

    /// How many transfers run at once. Each takes up to six descriptors: a connection, what its name is looked up with, and
    /// the file that it fills.
    var governor: any Governor {
        let most = 2 + Invocation.Command.descriptorsToSpare / 6
        return settings.transfers > 0
            ? FixedGovernor(width: min(settings.transfers, most), pace: 0.25)
            : AdaptiveGovernor(history: history, width: most)
    }
}
