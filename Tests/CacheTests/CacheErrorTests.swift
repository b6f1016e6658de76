import Foundation
import Session
import SQLite
import Testing

@testable import Cache

/// The words of an error about of the disk, and about the thing to be stored.
@Suite struct CacheErrorTests {
    @Test("A shortage of file descriptors passes, and is nothing that the disk did", arguments: [EMFILE, ENFILE])
    func shortage(code: Int32) {
        for error in [CacheError.file("/a", code: code), .cannotOpen("/a", code: code)] {
            #expect(error == .tooFewDescriptors && error.isTransient && StorageTrouble(error) == nil)
        }
        #expect(CacheError(thrown: SQLiteError.tooFewDescriptors) == .tooFewDescriptors)
        #expect(CacheError.tooFewDescriptors.description.contains("too few file descriptors"))
        #expect(!SQLiteError.tooFewDescriptors.isDamage)
    }

    @Test("A disk that is full, or takes nothing, is told from one that fails")
    func disk() {
        #expect(CacheError.file("/a", code: ENOSPC) == .full && CacheError.file("/a", code: EROFS) == .readOnly)
        #expect(StorageTrouble(.file("/a", code: EIO)) == .failing)
    }
}
