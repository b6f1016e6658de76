import Cells

/// Pictures in kitty's words: sent once under a number, placed as often as one likes, and removed by that number.
public enum KittySequence {
    /// Sends a picture, and shows nothing yet. Through a tmux each piece goes by itself, and is wrapped already.
    public static func transmit(_ picture: PixelPicture, id: UInt32) -> [[UInt8]] {
        pieces(picture, "a=t,f=24,s=\(picture.width),v=\(picture.height),i=\(id),q=2")
    }

    /// Sends a picture and shows it at the cursor, which stays where it is.
    ///
    /// - Parameter id: its number, if it is to be placed again or removed; else the terminal finds one.
    public static func show(_ picture: PixelPicture, id: UInt32? = nil) -> [[UInt8]] {
        let number = id.map { ",i=\($0)" } ?? ""
        return pieces(
            picture,
            "a=T,f=24,s=\(picture.width),v=\(picture.height)\(number),c=\(picture.size.columns),r=\(picture.size.rows)"
                + ",C=1,q=2")
    }

    /// Shows a picture that was sent at the cursor, which stays where it is.
    ///
    /// - Parameters:
    ///   - placement: the number of this showing; the same again moves it.
    ///   - size: the cells that it covers.
    public static func place(id: UInt32, placement: UInt32, size: Size) -> [UInt8] {
        KittyChunks.sequence("a=p,i=\(id),p=\(placement),c=\(size.columns),r=\(size.rows),C=1,q=2")
    }

    /// Takes one showing of a picture away, and keeps the picture.
    public static func remove(id: UInt32, placement: UInt32) -> [UInt8] {
        KittyChunks.sequence("a=d,d=i,i=\(id),p=\(placement),q=2")
    }

    /// Takes a picture away wherever it is shown, and forgets it.
    public static func forget(id: UInt32) -> [UInt8] {
        KittyChunks.sequence("a=d,d=I,i=\(id),q=2")
    }

    /// The first of them has to be made here, where the picture's number is known; the others are ready.
    private static func pieces(_ picture: PixelPicture, _ control: String) -> [[UInt8]] {
        let first = KittyChunks.sequence("\(control),m=\(picture.following.isEmpty ? 0 : 1)", picture.payload)
        return [picture.isThroughTmux ? TmuxPassage.wrapped(first) : first] + picture.following
    }
}
