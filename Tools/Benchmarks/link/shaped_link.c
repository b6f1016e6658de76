/* A link with a rate and a round trip between two network namespaces. TCP over it is the system's.
 *
 *   shaped_link --rate BITS --rtt MS [--queue BYTES] [--loss SHARE] [--jitter MS] [--stall EVERY,FOR]
 *               [--schedule SECONDS:BITS/MS,…] [--seed NUMBER]
 *
 * In each direction, packets wait in a queue that drops the excess, take their time on the line, may be lost there, and
 * arrive in order, half a round trip and some jitter later. The default queue holds one round trip's data, at least
 * 64 KiB. A schedule starts with the first packet and does not affect packets already queued. A stall holds all packets
 * for FOR seconds, every EVERY seconds.
 *
 * The namespaces have no names, so that they end with this program and its children. Each has one device, `line`.
 * Needs root, TUN and namespaces.
 *
 * It prints `ready NEAR FAR`: the namespaces' descriptors in /proc/PID/fd. Then it reads commands: `count` prints the
 * counters since the last time as JSON; `restart` restarts the schedule with the next packet. It ends with its standard
 * input.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 1500, BATCH = 64, MAXIMUM_SHAPES = 32 };

/* All times are nanoseconds. */
typedef int64_t Time;
static const double SECOND = 1e9, MILLISECOND = 1e6;

struct packet {
    struct packet *next;
    Time due;
    int length;
    unsigned char bytes[];
};

struct shape {
    Time from;
    double bytes_per_second;
    Time round_trip;
};

struct direction {
    const char *name;
    int source, target;
    struct packet *first, *last;
    /* The times when the line is free and when the last packet arrives. */
    Time line_free, last_due;
    long packets, bytes, payload, refused, lost, under_way;
    Time longest_wait, latest;
    double lateness;
};

struct options {
    struct shape shapes[MAXIMUM_SHAPES];
    int shape_count;
    double queue, loss;
    Time jitter, stall_every, stall_for;
};

static struct options options;
static const struct shape *shape;
/* The time of the first packet; 0 before it. */
static Time begun;
static uint64_t chance;

static void fail(const char *what) {
    fprintf(stderr, "shaped_link: %s: %s\n", what, strerror(errno));
    exit(1);
}

static Time now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A reproducible number from 0 to 1: xorshift64*. */
static double random_share(void) {
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return (double)((chance * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

/* MARK: The line */

/* The bytes of TCP payload in an IPv4 packet. */
static int payload(const unsigned char *bytes, int length) {
    int header = (bytes[0] & 15) * 4;
    if (length < header + 20 || bytes[9] != 6) return 0;
    int total = bytes[2] << 8 | bytes[3];
    int load = total - header - (bytes[header + 12] >> 4) * 4;
    return load > 0 ? load : 0;
}

static void apply_schedule(Time time) {
    for (int index = 0; index < options.shape_count && options.shapes[index].from <= time - begun; index++)
        shape = &options.shapes[index];
}

/* The remaining time of a stall. */
static Time stall(struct direction *line, Time time) {
    if (!options.stall_for) return 0;
    Time whole = options.stall_every + options.stall_for;
    Time place = (time - begun) % whole;
    if (place < options.stall_every) return 0;
    Time left = whole - place;
    if (line->line_free < time + left) line->line_free = time + left;
    return left;
}

/* The maximum time of a packet in the queue. */
static double room(void) {
    double least = 65536 / shape->bytes_per_second * SECOND;
    if (options.queue > 0) return options.queue / shape->bytes_per_second * SECOND;
    return shape->round_trip > least ? shape->round_trip : least;
}

static void take(struct direction *line, const unsigned char *bytes, int length, Time time) {
    Time stalled = stall(line, time);
    Time start = line->line_free > time ? line->line_free : time;
    /* A stall does not fill the queue. */
    if (start - time > room() + stalled) {
        line->refused++;
        return;
    }
    if (start - time > line->longest_wait) line->longest_wait = start - time;
    line->line_free = start + (Time)(length / shape->bytes_per_second * SECOND);
    line->packets++;
    line->bytes += length;
    if (options.loss > 0 && random_share() < options.loss) {
        line->lost++;
        return;
    }
    Time due = line->line_free + shape->round_trip / 2;
    if (options.jitter) due += (Time)(random_share() * options.jitter);
    if (due < line->last_due) due = line->last_due;
    line->last_due = due;
    struct packet *packet = malloc(sizeof *packet + length);
    if (!packet) fail("no memory");
    packet->next = NULL;
    packet->due = due;
    packet->length = length;
    memcpy(packet->bytes, bytes, length);
    if (line->first)
        line->last->next = packet;
    else
        line->first = packet;
    line->last = packet;
    line->under_way++;
}

static void read_packets(struct direction *line) {
    unsigned char bytes[LARGEST];
    for (int count = 0; count < BATCH; count++) {
        ssize_t length = read(line->source, bytes, sizeof bytes);
        if (length < 20) return;
        /* Ignore IPv6 neighbour discovery. */
        if (bytes[0] >> 4 != 4) continue;
        Time time = now();
        if (!begun) begun = time;
        apply_schedule(time);
        take(line, bytes, (int)length, time);
    }
}

static void deliver(struct direction *line) {
    for (int count = 0; count < BATCH && line->first; count++) {
        struct packet *packet = line->first;
        Time late = now() - packet->due;
        if (late < 0) return;
        if (late > line->latest) line->latest = late;
        line->lateness += late;
        line->payload += payload(packet->bytes, packet->length);
        if (write(line->target, packet->bytes, packet->length) < 0) line->lost++;
        line->first = packet->next;
        line->under_way--;
        free(packet);
    }
}

/* MARK: Commands */

static void tell(struct direction *line) {
    printf(
        "\"%s\": {\"packets\": %ld, \"bytes\": %ld, \"payload\": %ld, \"refused\": %ld, \"lost\": %ld, "
        "\"under_way\": %ld, \"longest_wait_ms\": %.1f, \"late_ms\": %.3f, \"latest_ms\": %.2f}, ",
        line->name, line->packets, line->bytes, line->payload, line->refused, line->lost,
        line->under_way, line->longest_wait / MILLISECOND,
        line->packets ? line->lateness / line->packets / MILLISECOND : 0, line->latest / MILLISECOND);
    line->packets = line->bytes = line->payload = line->refused = line->lost = 0;
    line->longest_wait = line->latest = 0;
    line->lateness = 0;
}

static double processor_time(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Reads a command; the client writes whole lines. Returns false at the end of standard input. */
static int read_command(struct direction lines[2]) {
    static double counted;
    char command[64];
    ssize_t length = read(STDIN_FILENO, command, sizeof command - 1);
    if (length <= 0) return 0;
    command[length] = 0;
    if (!strcmp(command, "count\n")) {
        printf("{");
        for (int index = 0; index < 2; index++) tell(&lines[index]);
        double used = processor_time();
        printf("\"processor_s\": %.3f}\n", used - counted);
        counted = used;
    } else if (!strcmp(command, "restart\n")) {
        begun = 0;
        shape = &options.shapes[0];
        printf("restarted\n");
    } else {
        printf("unknown command\n");
    }
    fflush(stdout);
    return 1;
}

/* MARK: Setup */

/* Enters a new namespace and creates its device. Returns the descriptor of its packets. */
static int make_end(int *space) {
    if (unshare(CLONE_NEWNET)) fail("a network namespace");
    *space = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_name = "line", .ifr_flags = IFF_TUN | IFF_NO_PI};
    if (*space < 0 || device < 0 || ioctl(device, TUNSETIFF, &request)) fail("/dev/net/tun");
    return device;
}

/* Reads a number of an option and advances behind it. */
static double number(const char **text) {
    char *end;
    double value = strtod(*text, &end);
    if (end == *text || value < 0) {
        fprintf(stderr, "shaped_link: %s is no number\n", *text);
        exit(2);
    }
    *text = *end ? end + 1 : end;
    return value;
}

static void read_schedule(const char *text) {
    while (*text) {
        if (options.shape_count == MAXIMUM_SHAPES) exit(2);
        struct shape *next = &options.shapes[options.shape_count++];
        next->from = (Time)(number(&text) * SECOND);
        next->bytes_per_second = number(&text) / 8;
        next->round_trip = (Time)(number(&text) * MILLISECOND);
    }
}

static void read_options(int count, char **arguments) {
    static const struct option known[] = {
        {"rate", 1, 0, 'r'},   {"rtt", 1, 0, 't'},   {"queue", 1, 0, 'q'}, {"loss", 1, 0, 'l'},
        {"jitter", 1, 0, 'j'}, {"stall", 1, 0, 's'}, {"seed", 1, 0, 'n'},  {"schedule", 1, 0, 'c'},
        {0},
    };
    options.shape_count = 1;
    chance = 1;
    for (int option; (option = getopt_long(count, arguments, "", known, NULL)) >= 0;) {
        const char *text = optarg;
        switch (option) {
        case 'r': options.shapes[0].bytes_per_second = number(&text) / 8; break;
        case 't': options.shapes[0].round_trip = (Time)(number(&text) * MILLISECOND); break;
        case 'q': options.queue = number(&text); break;
        case 'l': options.loss = number(&text); break;
        case 'j': options.jitter = (Time)(number(&text) * MILLISECOND); break;
        case 's':
            options.stall_every = (Time)(number(&text) * SECOND);
            options.stall_for = (Time)(number(&text) * SECOND);
            break;
        case 'n': chance = (uint64_t)number(&text); break;
        case 'c': read_schedule(text); break;
        default: exit(2);
        }
    }
    for (int index = 0; index < options.shape_count; index++)
        if (options.shapes[index].bytes_per_second <= 0) {
            fprintf(stderr, "shaped_link: a rate is missing\n");
            exit(2);
        }
    /* xorshift would stay at 0. */
    if (!chance) chance = 1;
    shape = &options.shapes[0];
}

/* Real-time priority keeps the link on time; without the permission, see `late_ms`. */
static void take_precedence(void) {
    prctl(PR_SET_TIMERSLACK, 1);
    struct sched_param priority = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority)) setpriority(PRIO_PROCESS, 0, -20);
}

int main(int count, char **arguments) {
    read_options(count, arguments);
    int near, far;
    int near_device = make_end(&near), far_device = make_end(&far);
    struct direction lines[2] = {
        {.name = "down", .source = far_device, .target = near_device},
        {.name = "up", .source = near_device, .target = far_device},
    };
    take_precedence();
    printf("ready %d %d\n", near, far);
    fflush(stdout);
    for (;;) {
        Time next = INT64_MAX;
        for (int index = 0; index < 2; index++) {
            deliver(&lines[index]);
            if (lines[index].first && lines[index].first->due < next) next = lines[index].first->due;
        }
        struct pollfd watched[3] = {{far_device, POLLIN, 0}, {near_device, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        Time wait = next - now();
        if (wait < 0) wait = 0;
        struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        if (ppoll(watched, 3, next == INT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR) fail("poll");
        for (int index = 0; index < 2; index++)
            if (watched[index].revents) read_packets(&lines[index]);
        if (watched[2].revents && !read_command(lines)) return 0;
    }
}
