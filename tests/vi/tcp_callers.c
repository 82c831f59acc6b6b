/* Connections that a listener must not accept, and authenticated ones that say what must not be said. Rank 1 is the
 * victim; rank 0 is a right peer over there, or a hand-made one; the victim's work with others goes on.
 * timeout: 60 */
#include "tcp_pair.h"
#include "base/counters.h"
#include "vi/call/hello.h"
#include "vi/tcp/tcp.h"

#define UNPROVEN ((int)TUNED(LISTENER_CALLERS))

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static struct call_nic *victim(void)
{
    return &tcp_nic_of(pair[1].nic)->call;
}

static int knock(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* Reads LENGTH bytes while the nics are polled. */
static bool hear(int fd, void *out, size_t length)
{
    size_t got = 0;
    uint64_t since = vbase_clock_ns();

    while (got < length && !pair_late(since)) {
        ssize_t more = recv(fd, (char *)out + got, length - got, MSG_DONTWAIT);
        if (more == 0 || (more < 0 && errno != EAGAIN))
            return false;
        got += more > 0 ? (size_t)more : 0;
        pair_poll();
    }
    return got == length;
}

/* The victim ends the connection, by itself and soon. */
static bool sent_away(int fd)
{
    char byte[256];
    ssize_t got = -1;
    uint64_t since = vbase_clock_ns();

    while (!pair_late(since)) {
        got = recv(fd, byte, sizeof(byte), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        pair_poll();
    }
    close(fd);
    return got <= 0 && !pair_late(since);
}

static void say(int fd, const void *data, size_t length)
{
    ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
    CHECK(sent == (ssize_t)length || errno == EPIPE || errno == ECONNRESET);
}

/* Two honest ranks still meet and talk. */
static void still_well(void)
{
    static uint64_t number;

    pair[3].expected = number;
    CHECK_EQUAL(pair_connect(1, 3), OK);
    for (int n = 0; n < 10; n++)
        pair_send(1, 3, number++, 1000);
    PAIR_WAIT(pair[3].expected == number);
    CHECK_EQUAL(pair[3].down, 0);
}

static void start(void)
{
    CHECK_EQUAL(pair_open_with(1, pair_secret), OK);
    CHECK_EQUAL(pair_open_with(3, pair_secret), OK);
    pair[1].disconnect_in_sink = true;
}

static void nonsense(void)
{
    uint64_t refused = vbase_counters->refused;
    unsigned char bytes[200];

    for (int round = 0; round < 200; round++) {
        size_t length = 1 + next_random() % sizeof(bytes);
        int fd = knock(victim()->cards.port);
        CHECK_EQUAL(vbase_random(bytes, length), OK);
        if (round % 3 == 0)
            memcpy(bytes, &(uint64_t){CALL_MAGIC}, 8);
        say(fd, bytes, length);
        shutdown(fd, SHUT_WR);
        CHECK(sent_away(fd));
    }
    CHECK(vbase_counters->refused > refused + 100);
    PAIR_WAIT(call_listener_callers(victim()->seat->listener) == 0);
    CHECK_EQUAL(pair[1].called, 0);
}

static void wrong_secret(void)
{
    static const uint8_t other[SECRET_SIZE] = "not the secret of this job......";
    struct call_hello hello;
    struct call_welcome welcome;
    struct call_proof proof;
    uint64_t refused = vbase_counters->refused;
    int fd = knock(victim()->cards.port);

    CHECK_EQUAL(call_hello_make(&hello, 0, 1, 0, 1), OK);
    say(fd, &hello, sizeof(hello));
    CHECK(hear(fd, &welcome, sizeof(welcome)));
    CHECK_EQUAL(call_welcome_judge(&welcome, &hello, other), ERR_DENIED);
    call_proof_make(&proof, &hello, &welcome, other);
    say(fd, &proof, sizeof(proof));
    CHECK(sent_away(fd));
    CHECK_EQUAL(vbase_counters->refused, refused + 1);
    CHECK(!victim()->peers[0]); /* not a trace of it */

    /* And as somebody's whole nic: it notices by itself that this is not its job, and in the end says so. */
    CHECK_EQUAL(pair_open_with(2, other), OK);
    CHECK_EQUAL(pair_connect(2, 1), OK);
    PAIR_WAIT(tcp_nic_of(pair[2].nic)->call.peers[1]->cause);
    tcp_nic_of(pair[2].nic)->call.peers[1]->silent -= 31000000000ull;
    PAIR_WAIT(pair[2].down == 1);
    CHECK_EQUAL(pair[2].down_cause, ERR_DENIED);
    vi_disconnect(pair[2].vi[1]);
    vi_nic_close(pair[2].nic);
    pair[2].nic = NULL;
    CHECK_EQUAL(pair[1].called, 0);
}

/* A greeting by hand, as rank 0 would do it. */
static int greet_over(uint32_t rail, uint32_t epoch, struct call_hello *hello, struct call_proof *proof)
{
    struct call_welcome welcome;
    int fd = knock(victim()->cards.port);

    CHECK_EQUAL(call_hello_make(hello, 0, 1, rail, epoch), OK);
    say(fd, hello, sizeof(*hello));
    CHECK(hear(fd, &welcome, sizeof(welcome)));
    CHECK_EQUAL(call_welcome_judge(&welcome, hello, pair_secret), OK);
    call_proof_make(proof, hello, &welcome, pair_secret);
    return fd;
}

static int greet(uint32_t epoch, struct call_hello *hello, struct call_proof *proof)
{
    return greet_over(0, epoch, hello, proof);
}

static uint32_t epoch;

static void replayed(void)
{
    struct call_hello hello;
    struct call_welcome welcome;
    struct call_proof proof;
    unsigned called = pair[1].called;
    int right = greet(++epoch, &hello, &proof), fd;

    say(right, &proof, sizeof(proof));
    PAIR_WAIT(pair[1].called == called + 1);
    fd = knock(victim()->cards.port);
    say(fd, &hello, sizeof(hello));
    CHECK(hear(fd, &welcome, sizeof(welcome)));
    say(fd, &proof, sizeof(proof));
    CHECK(sent_away(fd));
    CHECK_EQUAL(pair[1].called, called + 1);
    fd = greet(epoch, &hello, &proof); /* proven, but as old as the one that is there */
    say(fd, &proof, sizeof(proof));
    CHECK(sent_away(fd));
    CHECK_EQUAL(pair[1].called, called + 1);
    close(right);
    PAIR_WAIT(!pair[1].vi[0]);
}

/* A right hello at the wrong door. */
static void not_here(void)
{
    struct call_hello hello;
    uint64_t refused = vbase_counters->refused;
    int fd = knock(victim()->cards.port);

    CHECK_EQUAL(call_hello_make(&hello, 0, 2, 0, 1), OK);
    say(fd, &hello, sizeof(hello));
    CHECK(sent_away(fd));
    CHECK_EQUAL(vbase_counters->refused, refused + 1);
}

/* A rank of this job asks for a kind of network that the victim does not use. */
static void another_network(void)
{
    struct call_hello hello;
    struct call_proof proof;
    for (uint32_t rail = CALL_PAIRS; rail < CALL_RAILS; rail += CALL_PAIRS - 1) {
        uint64_t refused = vbase_counters->refused;
        unsigned called = pair[1].called;
        int fd = greet_over(rail, 1000, &hello, &proof);
        say(fd, &proof, sizeof(proof));
        CHECK(sent_away(fd));
        CHECK_EQUAL(vbase_counters->refused, refused + 1);
        CHECK_EQUAL(pair[1].called, called);
    }
}

/* The victim calls rank 2, whose port is this one. */
static int be_called(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct call_cards cards = victim()->cards;
    char card[CALL_CARD_TEXT];
    struct vi_address to = {.peer = 2, .card = card};

    CHECK_EQUAL(bind(listener, (struct sockaddr *)&here, sizeof(here)), 0);
    CHECK_EQUAL(listen(listener, 5), 0);
    CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&here, &length), 0);
    cards.port = ntohs(here.sin_port);
    cards.count = 1;
    CHECK_EQUAL(call_cards_write(&cards, card, sizeof(card)), OK);
    CHECK_EQUAL(vi_connect(pair[1].nic, &to, &pair[1], &pair[1].vi[2]), OK);
    return listener;
}

static int answer(int listener, struct call_hello *hello)
{
    int caller;

    while ((caller = accept(listener, NULL, NULL)) < 0)
        pair_poll();
    CHECK(hear(caller, hello, sizeof(*hello)));
    CHECK_EQUAL(hello->from, 1);
    return caller;
}

/* A crowded door closes a connection even after the proof: the caller has sent nothing yet, and calls again. Then what it
 * says is sent back to its own door. */
static void turned_away_and_reflected(void)
{
    struct call_hello hello;
    struct call_welcome welcome;
    struct call_proof proof;
    unsigned down = pair[1].down;
    uint32_t before = 0;
    int listener = be_called(), caller, fd;

    for (int i = 0; i < 3; i++) {
        caller = answer(listener, &hello);
        CHECK(hello.epoch > before);
        before = hello.epoch;
        CHECK_EQUAL(call_welcome_make(&welcome, &hello, pair_secret), OK);
        say(caller, &welcome, sizeof(welcome));
        CHECK(hear(caller, &proof, sizeof(proof)));
        CHECK_EQUAL(call_proof_judge(&proof, &hello, &welcome, pair_secret), OK);
        close(caller);
        CHECK_EQUAL(pair[1].down, down);
    }
    caller = answer(listener, &hello);
    fd = knock(victim()->cards.port);
    say(fd, &hello, sizeof(hello));
    CHECK(sent_away(fd));
    say(caller, &hello, sizeof(hello)); /* an answer that is no welcome */
    say(caller, &hello, 16);
    CHECK(sent_away(caller));
    close(listener);
    PAIR_WAIT(victim()->peers[2]->cause);
    victim()->peers[2]->silent = 1; /* its patience is over */
    PAIR_WAIT(!pair[1].vi[2]);
}

/* Nothing, or a byte now and then: for a time, and not for more. */
static void silent(void)
{
    const uint64_t patience = TUNED(LISTENER_PATIENCE) * 1000000;
    int fd[3];

    for (int i = 0; i < 3; i++)
        fd[i] = knock(victim()->cards.port);
    PAIR_WAIT(call_listener_callers(victim()->seat->listener) == 3);
    say(fd[1], "x", 1);
    say(fd[2], &(uint64_t){CALL_MAGIC}, 8);
    for (int n = 0; n < 100; n++)
        pair_poll();
    CHECK_EQUAL(call_listener_callers(victim()->seat->listener), 3);
    call_listener_step(victim()->seat->listener, vbase_clock_ns() + patience - 100000000); /* nearly */
    CHECK_EQUAL(call_listener_callers(victim()->seat->listener), 3);
    call_listener_step(victim()->seat->listener, vbase_clock_ns() + patience + 100000000);
    for (int i = 0; i < 3; i++)
        CHECK(sent_away(fd[i]));
    CHECK_EQUAL(call_listener_callers(victim()->seat->listener), 0);
}

/* Frames of a proven peer that make no sense. Each ends its connection, and nothing else. */
static void bad_frames(void)
{
    const struct {
        struct tcp_frame frame;
        const char *what;
    } bad[] = {
        {{.length = TCP_MAX_SEND + 1, .kind = TCP_SEND, .number = 1}, "too long"},
        {{.length = UINT32_MAX, .kind = TCP_SEND, .number = 1}, "far too long"},
        {{.length = TCP_MAX_PUT + 1, .kind = TCP_PUT, .number = 1}, "a put too long"},
        {{.length = 1, .kind = TCP_TAKEN}, "a word with payload"},
        {{.kind = 0}, "no kind"},
        {{.kind = TCP_KINDS}, "a kind too many"},
        {{.kind = 255}, "the last kind"},
        {{.kind = TCP_SEND, .number = 2}, "a number left out"},
        {{.kind = TCP_SEND, .number = 0}, "a number twice"},
        {{.kind = TCP_TAKEN, .number = 1}, "a number for a word"},
        {{.kind = TCP_SEND, .number = 1, .taken = 1}, "credit for nothing"},
        {{.kind = TCP_TAKEN, .taken = UINT32_MAX}, "negative credit"},
        {{.kind = TCP_REFUSED, .word = 0}, "a refusal of nothing"},
        {{.kind = TCP_SEND, .number = 1, .flags = 1}, "a flag"},
        {{.kind = TCP_PUT, .number = 1, .flags = 4}, "another flag"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct call_hello hello;
        struct call_proof proof;
        unsigned down = pair[1].down;
        uint64_t refused = vbase_counters->refused;
        int fd = greet(++epoch, &hello, &proof);
        say(fd, &proof, sizeof(proof));
        say(fd, &bad[i].frame, sizeof(bad[i].frame));
        CHECK(sent_away(fd));
        if (pair[1].down != down + 1 || pair[1].down_cause != ERR_PROTOCOL || vbase_counters->refused != refused + 1)
            CHECK_TEXT(bad[i].what, "noticed");
    }
    CHECK_EQUAL(pair[1].got, 0);
}

/* Right frames, then a few bytes changed: any outcome but a crash, a hang or a byte outside of the region. */
static void spoiled_frames(void)
{
    static unsigned char memory[3000], stream[6000];
    struct vi_region region;
    size_t length = 0;

    memset(memory, 7, sizeof(memory));
    CHECK_EQUAL(vi_reg(pair[1].nic, memory + 1000, 1000, &region), OK);
    for (uint16_t n = 1; n <= 20; n++) {
        struct tcp_put_frame put = {.frame = {.length = 100, .kind = n % 2 ? TCP_SEND : TCP_PUT, .number = n,
                                              .word = n % 2 ? 0 : region.key.word[0], .flags = n % 4 == 0},
                                    .offset = n * 10u};
        size_t size = n % 2 ? sizeof(put.frame) : sizeof(put);
        memcpy(stream + length, &put, size);
        length += size + 100;
    }
    for (int round = 0; round < 1500; round++) {
        unsigned char spoiled[6000];
        struct call_hello hello;
        struct call_proof proof;
        int fd = greet(++epoch, &hello, &proof);
        memcpy(spoiled, stream, length);
        for (unsigned n = 0; n < 1 + (unsigned)round % 3; n++)
            spoiled[next_random() % length] = (unsigned char)(round % 2 ? next_random() : 1u << next_random() % 8);
        say(fd, &proof, sizeof(proof));
        pair[1].spoiled = true;
        for (size_t at = 0; at < length;) { /* in pieces of any size */
            size_t piece = 1 + next_random() % (length - at);
            say(fd, spoiled + at, piece);
            at += piece;
            pair_poll();
        }
        shutdown(fd, SHUT_WR);
        CHECK(sent_away(fd));
        PAIR_WAIT(!pair[1].vi[0]);
    }
    pair[1].spoiled = false;
    for (size_t i = 0; i < sizeof(memory); i++)
        if (i < 1000 || i >= 2000)
            CHECK_EQUAL(memory[i], 7);
    vi_dereg(&region);
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* A process that opens COUNT connections and holds them until it is killed. */
static pid_t flood(uint16_t port, int count)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    alarm(50);
    for (int i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
            _exit(1);
    }
    for (;;)
        pause();
}

/* Time as this process, which polls without a pause, got the processor: the flood and whoever else is on the machine has
 * the rest. */
static uint64_t own_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ten thousand connections are opened and held; ranks of this job come through, within a second each. */
static void ten_thousand(void)
{
    enum { CHILDREN = 20, EACH = 500, MEETINGS = 10 };
    pid_t child[CHILDREN];
    int before = count_descriptors(), most = 0;
    uint64_t refused = vbase_counters->refused, worst = 0;

    for (int i = 0; i < CHILDREN; i++)
        child[i] = flood(victim()->cards.port, EACH);
    CHECK_EQUAL(pair_open_with(2, pair_secret), OK);
    for (uint64_t meeting = 0; meeting < MEETINGS || vbase_counters->refused - refused < CHILDREN * EACH - UNPROVEN;
         meeting++) {
        uint64_t since = vbase_clock_ns(), begun = own_ns(), took;
        unsigned called = pair[1].called;
        CHECK_EQUAL(pair_connect(2, 1), OK);
        pair[1].expected = 0;
        pair_send(2, 1, 0, 100);
        PAIR_WAIT(pair[1].called == called + 1 && pair[1].expected == 1);
        took = own_ns() - begun;
        worst = took > worst ? took : worst;
        vi_disconnect(pair[2].vi[1]);
        pair[2].vi[1] = NULL;
        PAIR_WAIT(!pair[1].vi[2]);
        int strangers = call_listener_callers(victim()->seat->listener);
        CHECK(strangers <= UNPROVEN);
        most = strangers > most ? strangers : most;
        if (pair_late(since))
            break;
    }
    fprintf(stderr, "meeting took %llu us at most; %d strangers at most\n", (unsigned long long)worst / 1000, most);
    CHECK(worst < 1000000000ull);
    CHECK(most > UNPROVEN / 2);
    CHECK(count_descriptors() <= before + UNPROVEN + 16);
    for (int i = 0; i < CHILDREN; i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    vi_nic_close(pair[2].nic);
    pair[2].nic = NULL;
}

int main(void)
{
    random_state = check_seed();
    CHECK_EQUAL(vbase_settings_read(), OK);
    start();
    nonsense();
    wrong_secret();
    still_well();
    not_here();
    another_network();
    replayed();
    turned_away_and_reflected();
    silent();
    bad_frames();
    spoiled_frames();
    still_well();
    ten_thousand();
    still_well();
    pair_close();
    return check_done();
}
