import Model

/// A line of the transfers screen: photos that are being saved, or something that is on its way.
@MainActor
enum TransferEntry {
    /// What it stays, wherever it comes to stand.
    enum Identity: Hashable {
        case export(Int)
        case transfer(Wish.Subject)
    }

    case export(ExportJob)
    case transfer(TransferReport)

    var identity: Identity {
        switch self {
        case .export(let job): .export(job.number)
        case .transfer(let transfer): .transfer(transfer.subject)
        }
    }
}
