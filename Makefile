# make run      builds Vitrine and opens the TestGallery
# make test     runs all checks and tests
# make sanitize runs the tests of each module under the thread sanitizer; MODULES="HTTP Cache" selects some
# make fuzz-pictures
#               decodes mangled pictures for MINUTES=30 under the address sanitizer; crashes stay in .build-asan/findings
# make fuzz-answers
#               fetches ANSWERS=200000 mangled answers, with and without the address sanitizer; crashes and hangs stay in
#               .build-asan/answers
# make fuzz     feeds changed inputs to each parser for MINUTES=5, guided by coverage, under the address sanitizer; TARGET=json
#               selects one; crashes stay in .build-fuzz/findings
# make coverage prints how many lines of each module the tests run
# make mutate   makes SAMPLE=100 small mistakes in each of MUTATED="Formats Scheduling Cache" and lists those that its tests miss;
#               the tests of the modules in ALSO="Session UI" try those, too
# make bench    runs the benchmarks; ONLY=first-sync selects some, PHOTOS=100000 sets the gallery's size, LINKS="b c" and
#               ROUNDS=1 limit the links, JSON=FILE writes the results
# make install  installs under PREFIX (and DESTDIR), with documents, manual page, completions and desktop entry
# make deb      builds Debian packages in this folder, for Debian 12 and 13 and Ubuntu 24.04
# make tarball  builds an archive in this folder that runs from any folder
# make sbom     lists files and libraries of the build in .build/vitrine.spdx.json
# make reproducible
#               builds twice, in two folders, and compares the programs
# make clean    removes all builds

PREFIX ?= /usr/local
DESTDIR ?=

SWIFT ?= swift
CHECKED = --explicit-target-dependency-import-check error
# Swift's libraries are linked statically, so that the program runs without Swift, and so is the C++ library that they need, which
# would otherwise take most of the loading time. Swift links it by name; the linker takes an archive if its folder has nothing
# else. Compilers for other systems have archives of the same name. Libraries never look up the program's functions, so these are
# not exported.
LIBRARIES = /usr/lib
STATIC = .build/static
ARCHIVES = $(LIBRARIES)/gcc/$(ARCHITECTURE)-*linux*/*/libstdc++.a
# Programs need no library beside them, so the loader does not search there. Functions are bound when a program starts, so that
# pictures cannot redirect them later. Tools/Scripts/check-hardening reads the result.
LINKED = --static-swift-stdlib --disable-local-rpath -Xlinker "-L$(CURDIR)/$(STATIC)" -Xlinker --no-export-dynamic \
	-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker noexecstack
# The shims of C libraries are compiled as part of Swift modules, and so are the C library's checked functions. Swift's own code
# has bounds checks, and no shadow stack or branch targets: its libraries lack them.
HARDENED = -Xcc -U_FORTIFY_SOURCE -Xcc -D_FORTIFY_SOURCE=3 -Xcc -fstack-protector-strong \
	-Xswiftc -Xfrontend -Xswiftc -enable-stack-protector
# Builds in two folders are the same: messages name files below this folder, and modules have no digest of their options. There is
# no debugging information, because parts of it differ between builds by chance.
REPEATABLE = -debug-info-format none -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=." \
	-Xswiftc -Xfrontend -Xswiftc -no-serialize-debugging-options -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
RELEASE = $(CHECKED) -c release $(LINKED) $(HARDENED) $(REPEATABLE)
STRICT = $(CHECKED) -Xswiftc -warnings-as-errors
# Many tests hold one of Swift's few threads while they wait for programs. If all ran at once, each would be so slow that servers
# time out.
WIDTH = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4

# Modules whose tests use several threads.
MODULES ?= Logging Scheduling Concurrency Session FetcherWire SQLite Files Cache Export Terminal Publishing Pictures UI HTTP Networking
SANITIZED = .build-tsan/debug
MINUTES ?= 30
ANSWERS ?= 200000
MUTATED ?= Formats Scheduling Cache
SAMPLE ?= 100
# The build to install, and the folders of manual page and completions under share.
BUILT = .build/release
MAN = man/man1
BASH = bash-completion/completions
ZSH = zsh/site-functions
FISH = fish/vendor_completions.d
VERSION := $(shell sed -n 's/.*static let number = "\(.*\)".*/\1/p' Sources/App/Vitrine.swift)
ARCHITECTURE := $(shell uname -m)
TARBALL = vitrine-$(VERSION)-linux-$(ARCHITECTURE)
STAGE = .build/tarball
ARCHIVE = $(TARBALL).tar.xz
# Level 9 sees all programs at once, which contain the same libraries of Swift.
COMPRESSION = --use-compress-program='xz -9'
MANGLED = .build-asan

.PHONY: run build portable check-portable test sanitize fuzz-pictures fuzz-answers fuzz coverage mutate bench install deb tarball archive sbom \
	reproducible clean

run: build
	.build/release/vitrine TestGallery/index.xml

build:
	Tools/Scripts/install-packages run
	mkdir -p $(STATIC)
	for archive in $(ARCHIVES); do test ! -e "$$archive" || ln -sf "$$archive" $(STATIC)/; done
	$(SWIFT) build $(RELEASE) --product vitrine
	$(SWIFT) build $(RELEASE) --product vitrine-decoder
	$(SWIFT) build $(RELEASE) --product vitrine-fetcher

# Debian's libjpeg has version 62 of its interface, and that of Ubuntu and most others version 8. So the decoder that runs on all
# systems contains it. Another make builds it, since this one may have made `build` before.
portable:
	$(MAKE) build STATIC=.build/portable ARCHIVES='$(ARCHIVES) $(LIBRARIES)/$(ARCHITECTURE)-linux-gnu/libjpeg.a'

# Debug builds, which tests pack, need Swift's libraries, too, and run only here.
check-portable:
	@case "$$(readelf --dynamic --wide "$(BUILT)/vitrine-decoder")" in *libswift*) ;; *libjpeg*) \
		echo "The decoder needs this system's libjpeg. Run make portable first." >&2; exit 1 ;; esac

test:
	Tools/Scripts/install-packages test
	Tools/Scripts/check-format
	Tools/Scripts/check-behaviours
	Tools/Scripts/check-features
	Tools/Scripts/check-features --self-test
	Tools/Scripts/check-sources
	Tools/Scripts/check-sources --self-test
	Tools/Scripts/check-prose
	Tools/Scripts/check-prose --self-test
	Tools/Scripts/check-hardening --self-test
	Tools/Scripts/make-sbom --self-test
	$(SWIFT) build $(STRICT) --build-tests
	Tools/Scripts/check-imports
	Tools/Scripts/check-imports --self-test
	$(WIDTH) Tools/Scripts/run-tests $(SWIFT) test $(STRICT) --skip-build --disable-xctest

# The sanitizer is slow, so a time limit ends tests that hang. Memory is not measured, since the sanitizer's own would count. The
# decoder's sandbox does not permit the sanitizer, which knows Swift's mutexes only in the tests themselves, so that decoders and
# their client are the ordinary ones.
PLAIN = vitrine-decoder broken-decoder decoder-client
sanitize:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) --build-tests --sanitize=thread --scratch-path .build-tsan
	for program in $(PLAIN); do \
		$(SWIFT) build $(CHECKED) --product $$program && cp .build/debug/$$program $(SANITIZED)/ || exit 1; \
	done
	failed=; for module in $(MODULES); do \
		echo "$$module"; $(WIDTH) timeout --kill-after=10 1200 env LD_PRELOAD=$(CURDIR)/$(SANITIZED)/libMutexes.so \
			TSAN_OPTIONS=exitcode=66 $(SANITIZED)/vitrinePackageTests.xctest --testing-library swift-testing \
			--filter "^$${module}Tests\." || failed="$$failed $$module"; \
	done; test -z "$$failed" || { echo "Tests of$$failed failed, or the sanitizer reported a race."; exit 1; }

# Swift's code and the C libraries' shims are instrumented. Debian's libraries are not; the sanitizer sees only their calls of malloc
# and the C library. Too large allocations fail, as in the decoder. Leaks do not matter, since a decoder ends with its picture.
fuzz-pictures:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) -c release --sanitize=address --product picture-mangler --scratch-path $(MANGLED)
	env ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0 SWIFT_BACKTRACE=enable=no nice -n 19 \
		$(MANGLED)/release/picture-mangler --minutes $(MINUTES) --findings $(MANGLED)/findings $(SEED:%=--seed %)

# Server and client share a process, so that the sanitizer sees both. Leaks are not checked: the process ends while network threads
# run, so that memory of curl and OpenSSL would count.
fuzz-answers:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) -c release --product answer-mangler
	$(SWIFT) build $(CHECKED) -c release --sanitize=address --product answer-mangler --scratch-path $(MANGLED)
	for build in .build $(MANGLED); do \
		env ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no nice -n 19 $$build/release/answer-mangler --answers $(ANSWERS) \
			--findings $(MANGLED)/answers $(SEED:%=--seed %) || exit 1; \
	done

# The corpus in .build-fuzz grows with each run. Memory of libxml2 and curl would count as leaks, since they stay loaded.
FUZZER = $(CHECKED) -c release --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address -Xswiftc -enable-testing -Xswiftc -DFUZZING \
	--scratch-path .build-fuzz
fuzz: MINUTES = 5
fuzz:
	Tools/Scripts/install-packages run
	$(SWIFT) build $(FUZZER) --product fuzz
	mkdir -p .build-fuzz/findings
	failed=; for target in $(or $(TARGET),$$(ls Tools/Fuzz/Corpus)); do \
		echo "$$target"; mkdir -p ".build-fuzz/corpus/$$target"; \
		env TARGET="$$target" ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no nice -n 19 .build-fuzz/release/fuzz \
			-max_total_time=$$(awk "BEGIN { print int($(MINUTES) * 60) }") -timeout=20 -rss_limit_mb=3072 -print_final_stats=1 -print_funcs=0 \
			-artifact_prefix=".build-fuzz/findings/$$target-" ".build-fuzz/corpus/$$target" "Tools/Fuzz/Corpus/$$target" || \
			failed="$$failed $$target"; \
	done; test -z "$$failed" || { echo "Findings of$$failed are in .build-fuzz/findings."; exit 1; }

# Programs that tests start count too.
coverage:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) --build-tests --enable-code-coverage --scratch-path .build-coverage
	$(WIDTH) Tools/Scripts/coverage .build-coverage/debug

# Each tried mistake takes seconds.
mutate:
	Tools/Scripts/install-packages test
	Tools/Scripts/mutate --swift $(SWIFT) --sample $(SAMPLE) $(if $(ALSO),--also $(ALSO) --) $(MUTATED)

bench: build
	Tools/Scripts/install-packages bench
	$(SWIFT) build $(CHECKED) -c release --product json-check
	python3 -B Tools/Benchmarks $(ONLY:%=--only %) $(PHOTOS:%=--photos %) $(LINKS:%=--link %) $(ROUNDS:%=--rounds %) \
		$(JSON:%=--json %)

# Installing builds nothing, so that another user than the builder can run it.
install:
	@test -x "$(BUILT)/vitrine" || { echo "Run make build first."; exit 1; }
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/libexec/vitrine" "$(DESTDIR)$(PREFIX)/share/vitrine" \
		"$(DESTDIR)$(PREFIX)/share/doc/vitrine"
	install -s -m 755 "$(BUILT)/vitrine" "$(DESTDIR)$(PREFIX)/bin/vitrine"
	install -s -m 755 "$(BUILT)/vitrine-decoder" "$(DESTDIR)$(PREFIX)/libexec/vitrine/vitrine-decoder"
	install -s -m 755 "$(BUILT)/vitrine-fetcher" "$(DESTDIR)$(PREFIX)/libexec/vitrine/vitrine-fetcher"
	cp -R TestGallery Tools/Towns "$(DESTDIR)$(PREFIX)/share/vitrine/"
	cp -R README.md SECURITY.md docs "$(DESTDIR)$(PREFIX)/share/doc/vitrine/"
	chmod -R u=rwX,go=rX "$(DESTDIR)$(PREFIX)/share/vitrine" "$(DESTDIR)$(PREFIX)/share/doc/vitrine"
	for made in "man:$(MAN)/vitrine.1" "completions bash:$(BASH)/vitrine" "completions zsh:$(ZSH)/_vitrine" \
		"completions fish:$(FISH)/vitrine.fish"; do \
		file="$(DESTDIR)$(PREFIX)/share/$${made#*:}"; \
		install -d "$${file%/*}" && "$(BUILT)/vitrine" $${made%%:*} >"$$file" && chmod 644 "$$file" || exit 1; \
	done
	install -D -m 644 Tools/Desktop/vitrine.desktop "$(DESTDIR)$(PREFIX)/share/applications/vitrine.desktop"
	install -D -m 644 Tools/Desktop/vitrine.metainfo.xml "$(DESTDIR)$(PREFIX)/share/metainfo/example.vitrine.vitrine.metainfo.xml"
	install -D -m 644 Tools/Desktop/vitrine.svg "$(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/vitrine.svg"
	@# File managers read which program opens a file from a list. Packages update this list when they are installed.
	@test -n "$(DESTDIR)" || ! command -v update-desktop-database >/dev/null || \
		update-desktop-database "$(PREFIX)/share/applications"

# dpkg-buildpackage would demand Debian's package of Swift, which Debian 12 has not.
deb:
	Tools/Scripts/install-packages package
	$(MAKE) portable
	debian/rules clean binary BUILT=.build/release PACKAGES=.

tarball:
	Tools/Scripts/install-packages archive
	$(MAKE) portable
	$(MAKE) archive

# Like installing, this builds nothing.
archive: check-portable
	rm -rf "$(STAGE)"
	$(MAKE) install DESTDIR="$(STAGE)" PREFIX=/$(TARBALL)
	install -m 644 LICENSE "$(STAGE)/$(TARBALL)"
	cd "$(STAGE)/$(TARBALL)" && ln -s share/doc/vitrine/README.md share/doc/vitrine/SECURITY.md share/doc/vitrine/docs .
	install -m 644 debian/copyright "$(STAGE)/$(TARBALL)/COPYRIGHT"
	Tools/Scripts/make-sbom "$(STAGE)/$(TARBALL)" >"$(STAGE)/vitrine.spdx.json"
	mv "$(STAGE)/vitrine.spdx.json" "$(STAGE)/$(TARBALL)/"
	tar --create $(COMPRESSION) --owner=0 --group=0 --sort=name --directory "$(STAGE)" --file "$(ARCHIVE)" $(TARBALL)

# Like installing, this builds nothing.
sbom:
	Tools/Scripts/install-packages archive
	rm -rf "$(STAGE)"
	$(MAKE) install DESTDIR="$(STAGE)" PREFIX=/usr
	Tools/Scripts/make-sbom "$(STAGE)" >.build/vitrine.spdx.json

# Takes as long as two releases from nothing.
reproducible:
	Tools/Scripts/check-reproducible

clean:
	$(SWIFT) package clean
	rm -rf .build .build-tsan .build-asan .build-fuzz .build-coverage .build-mutation .build-quality
