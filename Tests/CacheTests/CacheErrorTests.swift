import Foundation
import Session
import SQLite
import Testing

@testable import Cache

/// The classification of errors: those of the disk, and those of the data.
@Suite struct CacheErrorTests {
    @Test("A shortage of file descriptors is temporary, and not a problem of the disk", arguments: [EMFILE, ENFILE])
    func shortage(code: Int32) {
        for error in [CacheError.file("/a", code: code), .cannotOpen("/a", code: code)] {
            #expect(error == .tooFewDescriptors && error.isTransient && StorageTrouble(error) == nil)
        }
        #expect(CacheError(thrown: SQLiteError.tooFewDescriptors) == .tooFewDescriptors)
        #expect(CacheError.tooFewDescriptors.description.contains("too few file descriptors"))
        #expect(!SQLiteError.tooFewDescriptors.isDamage)
    }

    @Test("A full or read-only disk is distinguished from a failing one")
    func disk() {
        #expect(CacheError.file("/a", code: ENOSPC) == .full && CacheError.file("/a", code: EROFS) == .readOnly)
        #expect(StorageTrouble(.file("/a", code: EIO)) == .failing)
    }

    @Test("A missing folder and a missing permission are not errors of the disk")
    func noDisk() {
        for error in [CacheError.file("/a", code: ENOENT), .cannotOpen("/a", code: ENOENT)] {
            #expect(StorageTrouble(error) == .missing)
        }
        for error in [CacheError.file("/a", code: EACCES), .cannotOpen("/a", code: EACCES)] {
            #expect(StorageTrouble(error) == .forbidden)
        }
    }

    @Test("A missing permission concerns the folder, and a failing disk does not")
    func folder() {
        #expect(CacheError.readOnly.isOfFolder && CacheError.cannotOpen("/a", code: EACCES).isOfFolder)
        #expect(!CacheError.cannotOpen("/a", code: EIO).isOfFolder && !CacheError.full.isOfFolder)
    }
}
