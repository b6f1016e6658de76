import Model

/// How a rendition's trouble is stored: a number and the reason.
enum TroubleCode {
    static let putOff: Int64 = 1
    static let bad: Int64 = 2

    static func trouble(_ code: Int64?, reason: String) -> RenditionState.Trouble? {
        switch code {
        case putOff: .putOff(Failure(reason, remedy: .time))
        case bad: .bad(Failure(reason, remedy: .none))
        default: nil
        }
    }

    static func code(_ trouble: RenditionState.Trouble?) -> (code: Int64?, reason: String?) {
        switch trouble {
        case .putOff(let failure): (putOff, failure.reason)
        case .bad(let failure): (bad, failure.reason)
        case nil: (nil, nil)
        }
    }
}
