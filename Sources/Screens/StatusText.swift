import Model
import Text

/// What the status line says of a gallery's updates.
enum StatusText {
    ///
    /// - Parameter now: the moment from which the time of the next attempt is told.
    static func text(_ status: SyncStatus, now: Timestamp) -> String {
        let success = status.lastSuccess.map { "Updated: " + DateText.short($0) }
        switch status.state {
        case .notUpdated: return "Not updated"
        case .updated: return (success ?? "Updated") + skipped(status)
        case .cancelled: return join("Update cancelled", success)
        case .failed(let failure): return join("Update failed: \(failure)", success)
        case .updating(let phase): return updating(phase, success, now)
        }
    }

    /// What a screen without a gallery says.
    static let noGallery = "No gallery"

    private static func updating(_ phase: SyncPhase, _ success: String?, _ now: Timestamp) -> String {
        switch phase {
        case .getting(let progress, let entries):
            progress.done == 0
                ? "Updating…"
                : "Updating… " + ByteText.text(progress.done, of: progress.total)
                    + (entries > 0 ? ", " + CountText.text(entries, "photo") : "")
        case .parsing(let entries): "Updating… reading " + CountText.text(entries, "photo")
        case .committing: "Updating… storing"
        case .waiting(let failure, let until?):
            join("Trying again at \(DateText.minute(until, now: now)) · \(failure)", success)
        // A server that fails is worth naming, a network that is missing is not its fault.
        case .waiting(let failure, nil):
            failure.remedy == .network
                ? join("Waiting for network", success) : join("Update failed: \(failure)", success)
        }
    }

    private static func skipped(_ status: SyncStatus) -> String {
        status.skipped > 0 ? " · \(status.skipped) skipped" : ""
    }

    private static func join(_ text: String, _ success: String?) -> String {
        success.map { "\(text) · \($0)" } ?? text
    }
}
