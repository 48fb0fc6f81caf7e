/* A router between hosts of two sites that are network namespaces of one machine, for kernels
   without netem:

       router NAMESPACE=ADDRESS/SITE...

   Each namespace gets a TUN device wan0 with that IPv4 address. A packet to the other site arrives
   `delay` later, or is lost; one within a site arrives at once. Packets of one direction never
   overtake each other. Commands are lines on standard input; its end is the router's:

       delay US | jitter US | loss PPM | cut | cut SITE (what that site sends) | mend

   "ready" on standard output says that all devices stand. Exit code 0, or 3 with a line about what
   could not be made. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    HOSTS = 4,
    QUEUE = 4096, /* packets on their way in one direction; more are lost, as a full router would */
    PACKET_BYTES = 2048,
    DESTINATION_AT = 16, /* in an IPv4 header */
    HEADER_BYTES = 20
};

struct packet {
    int64_t due; /* in ns of the monotonic clock */
    size_t length;
    unsigned char bytes[PACKET_BYTES];
};

struct direction {
    struct packet queue[QUEUE];
    unsigned first, end; /* counted without a bound, taken modulo QUEUE */
    int64_t last;        /* when the newest is due */
};

struct host {
    int device;
    int site;
    uint32_t address;
};

static struct {
    struct host host[HOSTS];
    int hosts;
    struct direction direction[HOSTS][HOSTS];
    int64_t delay, jitter; /* ns */
    double loss;           /* of one */
    bool is_cut[2];        /* by the site that sends */
    unsigned short seed[3];
} router = {.seed = {0x330E, 1, 7}};

static void give_up(const char *what)
{
    fprintf(stderr, "router: %s: %s\n", what, strerror(errno));
    exit(3);
}

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* A TUN device in that namespace, which is ours from then on: a device belongs to who opened it. */
static int device_open(const char *name, const char *address)
{
    char text[256];
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "wan0"};

    (void)snprintf(text, sizeof text, "/run/netns/%s", name);
    int space = open(text, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0) {
        give_up(text);
    }
    close(space);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) {
        give_up("/dev/net/tun");
    }
    (void)snprintf(text, sizeof text, "ip addr add %s/24 dev wan0 && ip link set wan0 up", address);
    if (system(text) != 0) {
        give_up(text);
    }
    return device;
}

static void host_add(const char *argument)
{
    char name[64], address[64];
    struct host *host = &router.host[router.hosts];

    if (router.hosts == HOSTS ||
        sscanf(argument, "%63[^=]=%63[^/]/%d", name, address, &host->site) != 3 || host->site < 0 ||
        host->site > 1) {
        errno = EINVAL;
        give_up(argument);
    }
    host->address = inet_addr(address);
    host->device = device_open(name, address);
    router.hosts++;
}

static void obey(const char *line)
{
    char word[16] = "";
    long value = 0;
    int found = sscanf(line, "%15s %ld", word, &value);

    if (strcmp(word, "delay") == 0) {
        router.delay = value * 1000;
    } else if (strcmp(word, "jitter") == 0) {
        router.jitter = value * 1000;
    } else if (strcmp(word, "loss") == 0) {
        router.loss = (double)value / 1e6;
    } else if (strcmp(word, "cut") == 0) {
        for (int site = 0; site < 2; site++) {
            router.is_cut[site] = router.is_cut[site] || found == 1 || site == value;
        }
    } else if (strcmp(word, "mend") == 0) {
        memset(router.is_cut, 0, sizeof router.is_cut);
    } else {
        fprintf(stderr, "router: expected delay, jitter, loss, cut or mend, found %s\n", word);
    }
}

/* Commands that have come; false at their end. */
static bool obey_all(void)
{
    char text[512], *rest;
    ssize_t length = read(STDIN_FILENO, text, sizeof text - 1);

    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        obey(line);
    }
    return true;
}

static void take_in(int from, const unsigned char *bytes, size_t length)
{
    uint32_t address;
    int to = 0;

    memcpy(&address, bytes + DESTINATION_AT, sizeof address);
    while (to < router.hosts && router.host[to].address != address) {
        to++;
    }
    if (to == router.hosts) {
        return;
    }
    struct direction *direction = &router.direction[from][to];
    bool crosses = router.host[from].site != router.host[to].site;
    int64_t due = now();

    if (crosses) {
        if (router.is_cut[router.host[from].site] || erand48(router.seed) < router.loss) {
            return;
        }
        due += router.delay + (int64_t)((double)router.jitter * erand48(router.seed));
    }
    if (direction->end - direction->first == QUEUE) {
        return;
    }
    struct packet *packet = &direction->queue[direction->end++ % QUEUE];
    direction->last = due > direction->last ? due : direction->last;
    packet->due = direction->last;
    packet->length = length;
    memcpy(packet->bytes, bytes, length);
}

static void take_all(int from)
{
    unsigned char bytes[PACKET_BYTES];
    ssize_t length;

    while ((length = read(router.host[from].device, bytes, sizeof bytes)) > 0) {
        if (length >= HEADER_BYTES && bytes[0] >> 4 == 4) {
            take_in(from, bytes, (size_t)length);
        }
    }
}

/* Hands over what is due; returns when the next is, INT64_MAX when nothing is on its way. */
static int64_t deliver(void)
{
    int64_t next = INT64_MAX, time = now();

    for (int pair = 0; pair < router.hosts * router.hosts; pair++) {
        int to = pair % router.hosts;
        struct direction *direction = &router.direction[pair / router.hosts][to];

        while (direction->first != direction->end) {
            struct packet *packet = &direction->queue[direction->first % QUEUE];

            if (packet->due > time) {
                next = packet->due < next ? packet->due : next;
                break;
            }
            /* A full device loses it, as a full host would. */
            (void)!write(router.host[to].device, packet->bytes, packet->length);
            direction->first++;
        }
    }
    return next;
}

static void serve(void)
{
    struct pollfd waiting[HOSTS + 1];
    bool goes_on = true;

    while (goes_on) {
        int64_t next = deliver(), left = next == INT64_MAX ? 0 : next - now();
        struct timespec until = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                 .tv_nsec = left > 0 ? left % 1000000000 : 0};

        for (int host = 0; host < router.hosts; host++) {
            waiting[host] = (struct pollfd){.fd = router.host[host].device, .events = POLLIN};
        }
        waiting[router.hosts] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        if (ppoll(waiting, (nfds_t)router.hosts + 1, next == INT64_MAX ? NULL : &until, NULL) <=
            0) {
            continue;
        }
        for (int host = 0; host < router.hosts; host++) {
            take_all(host);
        }
        if (waiting[router.hosts].revents != 0) {
            goes_on = obey_all();
        }
    }
}

int main(int count, char **argument)
{
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    for (int k = 1; k < count; k++) {
        host_add(argument[k]);
    }
    if (setns(home, CLONE_NEWNET) != 0) {
        give_up("the first network namespace");
    }
    puts("ready");
    fflush(stdout);
    serve();
    return 0;
}
