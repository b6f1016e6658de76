import Foundation
import Model
import TestSupport
import Testing

@testable import Secrets

/// Uses a library with libsecret's interface that stores passwords in files and misbehaves on demand.
@Suite(.ownThread, .unlessItHangs) struct KeyringTests {
    private let folder = TestFolder()
    private let place: SignInPlace
    private let signIn = SignIn.password(user: "me", password: "tab\tand % and ünï")

    init() throws {
        place = .origin(try #require(Origin("https://example.org")))
    }

    /// - Parameter body: C code that both functions run first.
    private func keyring(_ body: String = "", seconds: Double = 20) throws -> Keyring {
        let source = folder.write(
            "fake.c",
            """
            #include <stdarg.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            struct error { unsigned domain; int code; char *message; };
            static int cancelled[2];
            static int refuse(struct error **error, const char *why) {
                *error = calloc(1, sizeof **error);
                (*error)->message = strdup(why);
                return 0;
            }
            void g_error_free(struct error *error) { free(error->message); free(error); }
            void *g_cancellable_new(void) { pipe(cancelled); return cancelled; }
            void g_cancellable_cancel(void *cancellable) { close(((int *)cancellable)[1]); }
            void secret_password_free(char *password) { free(password); }
            static FILE *file(va_list list, const char *mode) {
                char path[4096];
                const char *name = va_arg(list, const char *), *value = va_arg(list, const char *);
                if (strcmp(name, "origin") || strcmp(value, "https://example.org") || va_arg(list, void *)) abort();
                snprintf(path, sizeof path, "%s/kept", "\(folder.path)");
                return fopen(path, mode);
            }
            int secret_password_store_sync(const char **schema, const char *collection, const char *label,
                                           const char *password, void *cancellable, struct error **error, ...) {
                if (strcmp(schema[0], "vitrine.Password") || strcmp(label, "Vitrine: https://example.org")) abort();
                \(body)
                va_list list;
                va_start(list, error);
                FILE *kept = file(list, "w");
                va_end(list);
                if (!kept) return 0;
                fputs(password, kept);
                return fclose(kept) == 0;
            }
            char *secret_password_lookup_sync(const void *schema, void *cancellable, struct error **error, ...) {
                \(body)
                va_list list;
                va_start(list, error);
                FILE *kept = file(list, "r");
                va_end(list);
                if (!kept) return NULL;
                char *password = calloc(1, 4096);
                fread(password, 1, 4095, kept);
                fclose(kept);
                return password;
            }
            """)
        let library = folder.path("libsecret-\(UUID().uuidString).so.0")
        let compiler = try Command("/usr/bin/cc", ["-shared", "-fPIC", "-w", "-o", library, source])
        try #require(compiler.status == 0, "\(compiler.errors)")
        return Keyring(library: library, seconds: seconds)
    }

    @Test("BEHAVIOURS 5.10: A keyring returns what was stored in it")
    func roundTrip() async throws {
        let keyring = try keyring()
        #expect(try await keyring.signIn(for: place) == nil)
        try await keyring.keep(signIn, for: place)
        #expect(try await keyring.signIn(for: place) == signIn)
        try await keyring.keep(.token("t"), for: place)
        #expect(try await keyring.signIn(for: place) == .token("t"))
    }

    @Test("BEHAVIOURS 5.10: A password that goes to the keyring leaves the password file")
    func leavesFile() async throws {
        let file = SecretFile(path: folder.path("config/passwords"))
        let other = SignInPlace.origin(try #require(Origin("https://other.example.org")))
        let refusing = SecretStore(file: file, keyring: try keyring("return refuse(error, \"locked\");")) { _ in }
        let store = SecretStore(file: file, keyring: try keyring()) { Issue.record("\($0)") }
        try await store.keep(.token("first"), for: place, in: .keyring)
        #expect(folder.entries("config").isEmpty, "the store makes no file")
        try file.keep(.token("old"), for: place)
        try file.keep(.token("other"), for: other)
        await #expect(throws: SecretError.refused("locked")) {
            try await refusing.keep(signIn, for: place, in: .keyring)
        }
        #expect(await store.signIn(for: place) == .token("old"))
        try await store.keep(signIn, for: place, in: .keyring)
        #expect(await store.signIn(for: place) == signIn)
        #expect(try file.signIn(for: place) == nil && file.signIn(for: other) == .token("other"))
    }

    @Test("A missing library is reported") func missingLibrary() async {
        let keyring = Keyring(library: folder.path("nothing.so"))
        await #expect(throws: SecretError.noKeyring) { try await keyring.signIn(for: place) }
        let error = await #expect(throws: SecretError.self) { try await keyring.keep(signIn, for: place) }
        #expect(error?.description == "No keyring is available: libsecret is not installed.")
    }

    @Test("A library without the expected functions counts as missing") func wrongLibrary() async throws {
        let source = folder.write("empty.c", "int nothing;")
        #expect(try Command("/usr/bin/cc", ["-shared", "-fPIC", "-o", folder.path("empty.so"), source]).status == 0)
        await #expect(throws: SecretError.noKeyring) {
            try await Keyring(library: folder.path("empty.so")).signIn(for: place)
        }
    }

    @Test("A refusal carries the keyring's message") func refusal() async throws {
        let keyring = try keyring("return refuse(error, \"locked by its owner\");")
        await #expect(throws: SecretError.refused("locked by its owner")) { try await keyring.signIn(for: place) }
        await #expect(throws: SecretError.refused("locked by its owner")) { try await keyring.keep(signIn, for: place) }
    }

    @Test("A keyring that does not answer times out") func timeout() async throws {
        // It hangs until it is cancelled.
        let keyring = try keyring("char byte; read(((int *)cancellable)[0], &byte, 1);", seconds: 0.2)
        await #expect(throws: SecretError.silent) { try await keyring.signIn(for: place) }
        await #expect(throws: SecretError.silent) { try await keyring.keep(signIn, for: place) }
    }

    @Test("An entry in another format is not a password") func foreignEntry() async throws {
        let keyring = try keyring()
        folder.write("kept", "a\tb\tc\td\te")
        #expect(try await keyring.signIn(for: place) == nil)
        folder.write("kept", "")
        #expect(try await keyring.signIn(for: place) == nil)
    }
}
