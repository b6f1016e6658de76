#ifndef VITRINE_CNCURSES_H
#define VITRINE_CNCURSES_H

#define NCURSES_WIDECHAR 1
#include <errno.h>
#include <fcntl.h>
#include <ncursesw/curses.h>
#include <ncursesw/term.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Declared by <sys/mman.h> only under _GNU_SOURCE, which Swift does not define. */
int memfd_create(const char *name, unsigned int flags);
FILE *fdopen(int descriptor, const char *mode);

/* ---- Globals and macros ---- */

static inline int vitrine_ncurses_colors(void) { return COLORS; }
static inline int vitrine_ncurses_pairs(void) { return COLOR_PAIRS; }
static inline WINDOW *vitrine_ncurses_window(void) { return stdscr; }

static inline unsigned int vitrine_ncurses_attribute_bold(void) { return A_BOLD; }
static inline unsigned int vitrine_ncurses_attribute_dim(void) { return A_DIM; }
static inline unsigned int vitrine_ncurses_attribute_underline(void) { return A_UNDERLINE; }
static inline unsigned int vitrine_ncurses_attribute_reverse(void) { return A_REVERSE; }

/* Returns a terminfo string, or NULL. The library returns (char *)-1 for unknown capabilities. */
static inline const char *vitrine_terminfo_string(const char *name) {
    const char *value = tigetstr(name);
    return value == (const char *)-1 ? NULL : value;
}

/* Returns a terminfo number, or -1. */
static inline int vitrine_terminfo_number(const char *name) { return tigetnum(name); }

/* Returns whether the terminal has reverse video for single cells. On terminals with "magic cookies" (xmc), each change
 * of an attribute takes a cell of its own. */
static inline bool vitrine_terminfo_reverses(void) {
    return vitrine_terminfo_string("rev") != NULL && vitrine_terminfo_number("xmc") < 0;
}

/* ---- A screen that writes to memory ---- */

struct vitrine_screen {
    SCREEN *screen;
    FILE *output;
    FILE *input;
    int descriptor;
};

/*
 * Creates a screen without ncurses' handlers of signals. These would end the program with status 1, and call functions that
 * handlers must not call. ncurses installs a handler only where the default action is set.
 */
static inline SCREEN *vitrine_newterm(const char *kind, FILE *output, FILE *input) {
    static const int signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    enum { count = sizeof signals / sizeof *signals };
    struct sigaction actions[count];
    for (int index = 0; index < count; index++) sigaction(signals[index], NULL, &actions[index]);
    SCREEN *screen = newterm(kind, output, input);
    for (int index = 0; index < count; index++) sigaction(signals[index], &actions[index], NULL);
    return screen;
}

static inline void vitrine_screen_close(struct vitrine_screen *screen) {
    delscreen(screen->screen);
    fclose(screen->output);
    fclose(screen->input);
}

/*
 * Opens a screen for a terminal type. The output goes to an anonymous file in memory and there is no input, so ncurses
 * computes the bytes without touching a terminal. Returns 0, -1 if the type is unknown, or -2 if terminals of the type
 * cannot move the cursor; `rows_at_first` receives terminfo's number of lines.
 */
static inline int vitrine_screen_open(
    struct vitrine_screen *screen, const char *kind, int height, int width, int *rows_at_first) {
    memset(screen, 0, sizeof *screen);
    screen->descriptor = memfd_create("vitrine-screen", 1 /* MFD_CLOEXEC */);
    screen->output = screen->descriptor < 0 ? NULL : fdopen(screen->descriptor, "w");
    screen->input = fopen("/dev/null", "re");
    if (!screen->output || !screen->input) return -1;
    /*
     * The caller sets the size, so ignore LINES and COLUMNS. The ioctl fails on a file, and then terminals whose
     * description has no size get a default one; without it newterm would fail for them.
     */
    use_env(FALSE);
    use_tioctl(TRUE);
    screen->screen = vitrine_newterm(kind, screen->output, screen->input);
    if (!screen->screen) {
        fclose(screen->output);
        fclose(screen->input);
        return -1;
    }
    set_term(screen->screen);
    /* ncurses accepts types such as "dumb", and then draws all lines into one. */
    if (!vitrine_terminfo_string("cup")) {
        vitrine_screen_close(screen);
        return -2;
    }
    *rows_at_first = LINES;
    resizeterm(height, width);
    return 0;
}

/* Puts one character with its marks at a position of the window. */
static inline void vitrine_screen_put(
    int y, int x, const unsigned int *scalars, int count, unsigned int attributes, int pair) {
    wchar_t text[CCHARW_MAX + 1];
    cchar_t cell;
    int index;
    for (index = 0; index < count && index < CCHARW_MAX; index++) text[index] = (wchar_t)scalars[index];
    text[index] = L'\0';
    /* Pairs larger than a short are passed in the last argument; the argument before it is then ignored. */
    if (setcchar(&cell, text, (attr_t)attributes, (short)pair, &pair) == OK) mvadd_wch(y, x, &cell);
}

/* ---- Restoring the terminal after a crash ---- */

/*
 * The bytes and modes that restore the user's terminal, stored for the signal handler. Call the functions below from a single
 * Swift file: each file that includes this header has its own copy of the static state.
 */
struct vitrine_rescue {
    int descriptor;
    struct termios modes;
    char bytes[512];
    size_t length;
    volatile sig_atomic_t armed;
    int installed;
    struct sigaction previous[NSIG];
};

static inline struct vitrine_rescue *vitrine_the_rescue(void) {
    static struct vitrine_rescue rescue;
    return &rescue;
}

/*
 * Writes to a non-blocking terminal that may still be receiving a frame. Gives up when it accepts nothing for two
 * seconds.
 */
static inline void vitrine_rescue_write(int descriptor, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(descriptor, bytes, length);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (count < 0 && errno != EINTR) {
            struct pollfd entry = {descriptor, POLLOUT, 0};
            if (errno != EAGAIN || poll(&entry, 1, 2000) <= 0) return;
        }
    }
}

/* Calls only functions listed as safe in signal-safety(7). */
static void vitrine_rescue_handler(int signal) {
    struct vitrine_rescue *rescue = vitrine_the_rescue();
    if (rescue->armed) {
        rescue->armed = 0;
        /* Other threads keep running; discard what they still write of a frame. */
        int terminal = dup(rescue->descriptor), nowhere = open("/dev/null", O_WRONLY);
        if (terminal < 0 || nowhere < 0 || dup2(nowhere, rescue->descriptor) < 0) terminal = rescue->descriptor;
        vitrine_rescue_write(terminal, rescue->bytes, rescue->length);
        tcsetattr(terminal, TCSANOW, &rescue->modes);
    }
    /* Run the previous handler, such as the Swift runtime's backtrace, or the default action. */
    sigaction(signal, &rescue->previous[signal], NULL);
    raise(signal);
}

static inline void vitrine_rescue_arm(int descriptor, const struct termios *modes, const void *bytes, size_t length) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGQUIT};
    struct vitrine_rescue *rescue = vitrine_the_rescue();
    struct sigaction action;
    rescue->descriptor = descriptor;
    rescue->modes = *modes;
    rescue->length = length < sizeof rescue->bytes ? length : sizeof rescue->bytes;
    memcpy(rescue->bytes, bytes, rescue->length);
    if (!rescue->installed) {
        rescue->installed = 1;
        memset(&action, 0, sizeof action);
        action.sa_handler = vitrine_rescue_handler;
        action.sa_flags = SA_ONSTACK | SA_NODEFER;
        for (unsigned int index = 0; index < sizeof signals / sizeof *signals; index++)
            sigaction(signals[index], &action, &rescue->previous[signals[index]]);
    }
    rescue->armed = 1;
}

static inline void vitrine_rescue_disarm(void) { vitrine_the_rescue()->armed = 0; }

#endif
