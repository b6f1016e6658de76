# make run      builds Vitrine and opens the TestGallery
# make test     checks and tests everything
# make sanitize looks for races in what the network does; ROOMS="HTTP Cache" in what those do
# make fuzz-pictures
#               mangles pictures for MINUTES=30 and has them decoded under the address sanitizer; what a decoder dies of
#               stays in .build-asan/findings
# make fuzz-answers
#               fetches ANSWERS=200000 mangled answers with the real client, without and with the address sanitizer; answers
#               that end a process or hang stay in .build-asan/answers
# make bench    measures; ONLY=first-sync that alone, PHOTOS=100000 with fewer, LINKS="b c" on those links,
#               ROUNDS=1 once on each of them, JSON=FILE writes it there
# make install  puts it under PREFIX (and DESTDIR), with its manual page and what shells complete command lines with
# make clean    removes what was built

PREFIX ?= /usr/local
DESTDIR ?=

SWIFT ?= swift
CHECKED = --explicit-target-dependency-import-check error
# Swift's libraries are built in, so that the program runs where Swift is not, and the C++ library that they need, which would
# be most of what the system has to load for a program that only shows a file. Swift asks for it by name, and the linker takes
# an archive of that name if it looks into a folder where there is nothing else. Swift would also have every function of the
# program's be found by libraries that it loads, which look for none.
STATIC = .build/static
RELEASE = $(CHECKED) -c release --static-swift-stdlib -Xlinker -L$(CURDIR)/$(STATIC) -Xlinker --no-export-dynamic
STRICT = $(CHECKED) -Xswiftc -warnings-as-errors
# Many tests wait for programs, and hold one of Swift's few threads while they do. All of them begun at once, each gets its
# turn so seldom that servers give up on it.
WIDTH = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4

# Where several threads are at work on one thing.
ROOMS ?= HTTP Networking Traffic Logging
NOTHING =
BLANK = $(NOTHING) $(NOTHING)
SUITES = ^($(subst $(BLANK),|,$(strip $(ROOMS))))Tests\.
SANITIZED = .build-tsan/debug
MINUTES ?= 30
ANSWERS ?= 200000
# Where what is installed was built, and where the manual page and what shells read belong, under share.
BUILT = .build/release
MAN = man/man1
BASH = bash-completion/completions
ZSH = zsh/site-functions
FISH = fish/vendor_completions.d
MANGLED = .build-asan

.PHONY: run build test sanitize fuzz-pictures fuzz-answers bench install clean

run: build
	.build/release/vitrine TestGallery/index.xml

build:
	Tools/Scripts/install-packages run
	mkdir -p $(STATIC)
	for archive in /usr/lib/gcc/*/*/libstdc++.a; do test ! -e "$$archive" || ln -sf "$$archive" $(STATIC)/; done
	$(SWIFT) build $(RELEASE) --product vitrine
	$(SWIFT) build $(RELEASE) --product vitrine-decoder

test:
	Tools/Scripts/install-packages test
	Tools/Scripts/check-format
	Tools/Scripts/check-behaviours
	Tools/Scripts/check-features
	Tools/Scripts/check-sources
	Tools/Scripts/check-sources --self-test
	$(SWIFT) build $(STRICT) --build-tests
	Tools/Scripts/check-imports
	Tools/Scripts/check-imports --self-test
	$(WIDTH) Tools/Scripts/run-tests $(SWIFT) test $(STRICT) --skip-build --disable-xctest

# The sanitizer slows everything down, so a test that waits for what never comes is given a while, and no more. What room things
# take is not asked: the sanitizer's own memory would be in it.
sanitize:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) --build-tests --sanitize=thread --scratch-path .build-tsan
	$(WIDTH) timeout --kill-after=10 1200 env LD_PRELOAD=$(CURDIR)/$(SANITIZED)/libMutexes.so \
		TSAN_OPTIONS=exitcode=66 $(SANITIZED)/vitrinePackageTests.xctest --testing-library swift-testing \
		--filter '$(SUITES)' --skip QueueRoomTests

# Swift's code is instrumented and so are the C libraries' shims; the libraries themselves are Debian's, and are not: of
# those the sanitizer sees what they do to memory through malloc and the C library's functions, and the kernel the rest.
# A picture that asks for too much memory gets none, as in the helper; what leaks is of no account there, since a helper ends
# with its picture.
fuzz-pictures:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) -c release --sanitize=address --product picture-mangler --scratch-path $(MANGLED)
	env ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0 SWIFT_BACKTRACE=enable=no nice -n 19 \
		$(MANGLED)/release/picture-mangler --minutes $(MINUTES) --findings $(MANGLED)/findings $(SEED:%=--seed %)

# The server and the client share a process, so that the sanitizer sees both. It is not asked for leaks: a process ends while the
# network's threads run, and what curl and OpenSSL hold by then would count as lost.
fuzz-answers:
	Tools/Scripts/install-packages test
	$(SWIFT) build $(CHECKED) -c release --product answer-mangler
	$(SWIFT) build $(CHECKED) -c release --sanitize=address --product answer-mangler --scratch-path $(MANGLED)
	for build in .build $(MANGLED); do \
		env ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no nice -n 19 $$build/release/answer-mangler --answers $(ANSWERS) \
			--findings $(MANGLED)/answers $(SEED:%=--seed %) || exit 1; \
	done

bench: build
	Tools/Scripts/install-packages bench
	python3 -B Tools/Benchmarks $(ONLY:%=--only %) $(PHOTOS:%=--photos %) $(LINKS:%=--link %) $(ROUNDS:%=--rounds %) \
		$(JSON:%=--json %)

# Nothing is built here, so that it can be run as another user than the one who builds.
install:
	@test -x $(BUILT)/vitrine || { echo "Run make build first."; exit 1; }
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/libexec/vitrine" "$(DESTDIR)$(PREFIX)/share/vitrine"
	install -s -m 755 $(BUILT)/vitrine "$(DESTDIR)$(PREFIX)/bin/vitrine"
	install -s -m 755 $(BUILT)/vitrine-decoder "$(DESTDIR)$(PREFIX)/libexec/vitrine/vitrine-decoder"
	cp -R TestGallery "$(DESTDIR)$(PREFIX)/share/vitrine/"
	chmod -R u=rwX,go=rX "$(DESTDIR)$(PREFIX)/share/vitrine"
	for made in "man:$(MAN)/vitrine.1" "completions bash:$(BASH)/vitrine" "completions zsh:$(ZSH)/_vitrine" \
		"completions fish:$(FISH)/vitrine.fish"; do \
		file="$(DESTDIR)$(PREFIX)/share/$${made#*:}"; \
		install -d "$${file%/*}" && $(BUILT)/vitrine $${made%%:*} >"$$file" && chmod 644 "$$file" || exit 1; \
	done

clean:
	$(SWIFT) package clean
	rm -rf .build .build-tsan .build-asan .build-quality
