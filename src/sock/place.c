/* Boards, places and the boards of peers; see place.h.
 *
 * A board is found under its address, and a place under its number, without a lock. A lock is held where places and
 * peers come and go. The memory is shared with processes of the same user alone: what they could spoil here they
 * could spoil with a signal, too. */
#include "sock/place.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/memory.h"
#include "sock/real.h"
#include "sock/segment.h"
#include "sock/table.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define WORDS (SOCK_FILES / 64)
#define PEERS 1024
#define EMPTY_MOST 61 /* words found empty, until the next one leaves the summary; a prime: else, where each look finds
                       * a part of it, only the same word ever leaves */

struct sock_board {
    struct {
        _Atomic uint32_t asleep ALIGNED(64);           /* by the owner; cleared by the peer that wakes it */
        _Atomic uint64_t summary[WORDS / 64] ALIGNED(64); /* a bit for each word of bits that may not be 0 */
    } place[SOCK_PLACES];
    _Atomic uint64_t bits[SOCK_PLACES][WORDS];
};

struct sock_peer {
    uint32_t users;
    uint64_t id;
    struct sock_board *board;
    _Atomic int event[SOCK_PLACES]; /* 0: not known */
};

static struct base_lock lock;

static struct {
    struct sock_board *board;
    uint64_t id;
    int fd;
    uint64_t taken; /* places */
    int event[SOCK_PLACES];
    _Atomic uint32_t empty[SOCK_PLACES]; /* words found empty so far */
} own = {.fd = -1};

static struct sock_peer peers[PEERS];

static _Thread_local struct sock_board *thread_board TLS_QUICK; /* the place is on this one */
static _Thread_local int thread_place TLS_QUICK;

static bool board_make(void)
{
    int fd, error = vbase_memory_make("viaduct-board", sizeof(struct sock_board), F_SEAL_SEAL, &fd);
    void *board = MAP_FAILED;
    fd = sock_own_keep(fd);
    if (error == OK && fd >= 0 && getrandom(&own.id, sizeof(own.id), 0) == sizeof(own.id))
        board = mmap(NULL, sizeof(struct sock_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (board == MAP_FAILED || madvise(board, sizeof(own.board->place), MADV_POPULATE_WRITE) != 0) {
        if (board != MAP_FAILED)
            munmap(board, sizeof(struct sock_board));
        if (fd >= 0)
            sock_own_close(fd);
        return false;
    }
    own.board = board;
    own.fd = fd;
    own.id |= 1;
    return true;
}

bool sock_board_open(uint64_t *id, int *fd)
{
    base_lock(&lock);
    bool made = own.board || board_make();
    base_unlock(&lock);
    *id = own.id;
    *fd = own.fd;
    return made;
}

void sock_board_child(void)
{
    atomic_store(&lock.word, 0);
    if (own.board)
        munmap(own.board, sizeof(*own.board));
    thread_board = NULL;
    for (int i = 0; i < SOCK_PLACES; i++)
        if (own.event[i] > 0)
            sock_own_close(own.event[i]);
    if (own.fd >= 0)
        sock_own_close(own.fd);
    memset(&own, 0, sizeof(own));
    own.fd = -1;
}

int sock_place_open(void)
{
    uint64_t id;
    int fd, place = -1;
    if (!sock_board_open(&id, &fd))
        return -1;
    base_lock(&lock);
    int found = ~own.taken ? __builtin_ctzll(~own.taken) : -1;
    if (found >= 0 && own.event[found] <= 0 &&
        madvise(own.board->bits[found], sizeof(own.board->bits[0]), MADV_POPULATE_WRITE) == 0)
        own.event[found] = sock_own_keep(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (found >= 0 && own.event[found] > 0) {
        own.taken |= 1ull << found;
        place = found;
        sock_place_awake(place); /* what its last owner left behind */
        sock_place_drain(place);
    }
    base_unlock(&lock);
    return place;
}

void sock_place_close(int place)
{
    base_lock(&lock);
    own.taken &= ~(1ull << place); /* its eventfd stays: peers have it under the place's number */
    base_unlock(&lock);
}

int sock_place_event(int place) { return own.event[place]; }

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void thread_ended(void *place)
{
    if (thread_board && thread_board == own.board)
        sock_place_close((int)(intptr_t)place - 1);
    thread_board = NULL;
}

static void thread_key_make(void) { (void)pthread_key_create(&thread_key, thread_ended); }

int sock_place_thread(void)
{
    if (likely(thread_board && thread_board == own.board))
        return thread_place;
    int place = sock_place_open();
    if (place < 0)
        return -1;
    pthread_once(&thread_once, thread_key_make);
    (void)pthread_setspecific(thread_key, (void *)(intptr_t)(place + 1)); /* refused: the place is not given back */
    thread_board = own.board;
    return thread_place = place;
}

static bool board_bit(struct sock_board *board, int place, uint32_t bit)
{
    return atomic_load(&board->bits[place][bit / 64]) & 1ull << (bit % 64);
}

static void board_set(struct sock_board *board, int place, uint32_t bit)
{
    uint32_t word = bit / 64;
    atomic_fetch_or(&board->bits[place][word], 1ull << (bit % 64));
    if (!(atomic_load(&board->place[place].summary[word / 64]) & 1ull << (word % 64)))
        atomic_fetch_or(&board->place[place].summary[word / 64], 1ull << (word % 64));
}

bool sock_place_bit(int place, uint32_t bit) { return board_bit(own.board, place, bit); }

void sock_place_set(int place, uint32_t bit) { board_set(own.board, place, bit); }

bool sock_place_clear(int place, uint32_t bit)
{
    uint64_t one = 1ull << (bit % 64);
    return atomic_fetch_and(&own.board->bits[place][bit / 64], ~one) & one;
}

/* An empty word stays in the summary for a while: where one of many connections is busy, its word is emptied and
 * filled with each message, and the summary's line would travel as often. */
static void word_was_empty(int place, uint32_t word)
{
    struct sock_board *board = own.board;
    uint32_t empty = atomic_load_explicit(&own.empty[place], memory_order_relaxed);
    atomic_store_explicit(&own.empty[place], empty + 1, memory_order_relaxed); /* a count that need not be exact */
    if (empty % EMPTY_MOST)
        return;
    atomic_fetch_and(&board->place[place].summary[word / 64], ~(1ull << (word % 64)));
    if (atomic_load(&board->bits[place][word])) /* set by a peer in between, which saw the summary's bit */
        atomic_fetch_or(&board->place[place].summary[word / 64], 1ull << (word % 64));
}

uint32_t sock_place_next(int place, uint32_t from)
{
    struct sock_board *board = own.board;
    for (uint32_t word = from / 64; word < WORDS;) {
        uint64_t summary = atomic_load(&board->place[place].summary[word / 64]) & ~0ull << (word % 64);
        if (!summary) {
            word = (word / 64 + 1) * 64;
            from = word * 64;
            continue;
        }
        uint32_t found = word / 64 * 64 + (uint32_t)__builtin_ctzll(summary);
        if (found > word)
            from = found * 64;
        word = found;
        uint64_t bits = atomic_load(&board->bits[place][word]) & ~0ull << (from % 64);
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
        if (from % 64 == 0)
            word_was_empty(place, word);
        from = ++word * 64;
    }
    return SOCK_FILES;
}

void sock_place_wake(int place)
{
    const uint64_t one = 1;
    if (own.board && place < SOCK_PLACES && own.event[place] > 0 && atomic_exchange(&own.board->place[place].asleep, 0))
        (void)sock_real.syscall(SYS_write, own.event[place], (long)&one, sizeof(one), 0, 0, 0);
}

void sock_places_wake(void)
{
    for (int place = 0; place < SOCK_PLACES; place++)
        sock_place_wake(place);
}

void sock_place_sleep(int place) { atomic_store(&own.board->place[place].asleep, 1); }

void sock_place_awake(int place) { atomic_store(&own.board->place[place].asleep, 0); }

void sock_place_drain(int place)
{
    uint64_t count;
    (void)sock_real.syscall(SYS_read, own.event[place], (long)&count, sizeof(count), 0, 0, 0);
}

struct sock_peer *sock_peer_take(uint64_t id, int fd)
{
    struct sock_peer *free = NULL, *found = NULL;
    base_lock(&lock);
    for (int i = 0; i < PEERS && !found; i++) {
        if (peers[i].users && peers[i].id == id)
            found = &peers[i];
        else if (!peers[i].users && !free)
            free = &peers[i];
    }
    if (!found && free && vbase_memory_size(fd) == sizeof(struct sock_board)) {
        void *board = mmap(NULL, sizeof(struct sock_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (board != MAP_FAILED) {
            *free = (struct sock_peer){.id = id, .board = board};
            found = free;
        }
    }
    if (found)
        found->users++;
    base_unlock(&lock);
    return found;
}

void sock_peer_leave(struct sock_peer *peer)
{
    base_lock(&lock);
    if (--peer->users == 0) {
        munmap(peer->board, sizeof(struct sock_board));
        for (int i = 0; i < SOCK_PLACES; i++)
            if (peer->event[i])
                sock_own_close(peer->event[i]);
    }
    base_unlock(&lock);
}

bool sock_peer_event(struct sock_peer *peer, int place, int fd)
{
    base_lock(&lock);
    bool known = atomic_load(&peer->event[place]) > 0; /* a place has the same one always */
    if (known) {
        sock_real.close(fd);
    } else if ((fd = sock_own_keep(fd)) > 0) {
        atomic_store(&peer->event[place], fd);
        known = true;
    }
    base_unlock(&lock);
    return known;
}

bool sock_peer_wake(struct sock_peer *peer, uint32_t place, uint32_t bit, _Atomic uint64_t *since)
{
    struct sock_board *board = peer->board;
    uint32_t asleep = 1;
    const uint64_t one = 1;
    if (place >= SOCK_PLACES || bit >= SOCK_FILES || board_bit(board, (int)place, bit))
        return false; /* a place that makes no sense is the peer's own loss */
    if (since)
        atomic_store_explicit(since, clock_ticks(), memory_order_relaxed); /* who sees the bit sees it */
    board_set(board, (int)place, bit);
    if (!atomic_load(&board->place[place].asleep) ||
        !atomic_compare_exchange_strong(&board->place[place].asleep, &asleep, 0))
        return false;
    int event = atomic_load_explicit(&peer->event[place], memory_order_acquire);
    /* no cancellation point: the thread has the lock of a direction */
    return event <= 0 || sock_real.syscall(SYS_write, event, (long)&one, sizeof(one), 0, 0, 0) != sizeof(one);
}
