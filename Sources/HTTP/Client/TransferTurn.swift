/// Who is to hear of what comes in one turn of the network's thread. Touched on that thread only.
///
/// An answer, its body and its end often come in one turn. Who waits for them is woken at the turn's end, and once, in place
/// of three times while the thread goes on to post.
final class TransferTurn {
    private var mailboxes: [TransferMailbox] = []

    /// Notes that something has been posted.
    func note(_ mailbox: TransferMailbox) {
        if mailboxes.last !== mailbox { mailboxes.append(mailbox) }
    }

    /// Tells everyone.
    func end() {
        for mailbox in mailboxes { mailbox.tell() }
        mailboxes.removeAll(keepingCapacity: true)
    }
}
