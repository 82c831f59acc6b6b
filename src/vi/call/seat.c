/* The seat of a process at the listener of its node: proven connections come from it, for all nics that share it. Each
 * asks for a rail of one provider, and waits at the nic of that provider until its next poll. Whichever nic is polled
 * first reads the seat. */
#include "vi/call/call.h"

/* ---- what is passed on ------------------------------------------------------------------------------------------- */

struct call_passed *call_passed_make(int fd, const struct call_hello *hello)
{
    struct call_passed *passed = malloc(sizeof(*passed));
    if (passed)
        *passed = (struct call_passed){.fd = fd, .hello = *hello};
    return passed;
}

void call_passed_drop(struct call_passed *passed)
{
    list_leave(&passed->node);
    close(passed->fd);
    free(passed);
}

int call_seat_note(int seat, struct call_note *note)
{
    if (recv(seat, note, sizeof(*note), MSG_DONTWAIT) != sizeof(*note) || note->magic != CALL_NOTE_MAGIC ||
        note->port == 0 || note->port > 65535)
        return vbase_fail(ERR_PROTOCOL, "the node's listener sent an invalid message");
    return OK;
}

int call_seat_take(int seat, struct call_hello *hello, int *fd)
{
    int given;
    ssize_t got = vbase_packet_receive(seat, hello, sizeof(*hello), &given, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return vbase_fail(ERR_LINK_DOWN, "the listener of this node has ended");
    if (given < 0)
        return 0; /* nothing now; or no descriptor was left for it, then it is closed */
    if (got != sizeof(*hello)) {
        close(given);
        return 0;
    }
    *fd = given;
    return 1;
}

/* ---- to the nics ------------------------------------------------------------------------------------------------- */

/* Under seat->lock. */
static void nic_pass(const struct call_seat *seat, const struct call_hello *hello, int fd)
{
    uint32_t number = hello->rail / CALL_PAIRS;
    struct call_nic *nic = number < CALL_PROVIDERS ? seat->nic[number] : NULL;
    struct call_passed *passed = nic ? call_passed_make(fd, hello) : NULL;
    if (!nic)
        call_refuse(fd, "it asks for a kind of network that this rank does not use");
    if (!passed) {
        close(fd);
        return;
    }
    base_lock(&nic->lock);
    list_append(&nic->passed, &passed->node);
    base_unlock(&nic->lock);
    call_order(nic);
}

int call_seat_step(struct call_seat *seat)
{
    struct call_hello hello;
    int fd, got = 1;
    base_lock(&seat->lock);
    for (int i = 0; i < (int)TUNED(LISTENER_STEP) && (got = call_seat_take(seat->fd, &hello, &fd)) > 0; i++)
        nic_pass(seat, &hello, fd);
    base_unlock(&seat->lock);
    return got < 0 ? got : OK;
}

void call_seat_listen(struct call_seat *seat, uint64_t now)
{
    base_lock(&seat->lock);
    call_listener_step(seat->listener, now);
    base_unlock(&seat->lock);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

/* At the listener of the node; at one of our own where there is none, or it is in another network namespace. */
static int seat_open(const struct vi_setup *setup, uint64_t host, struct call_seat **out)
{
    int rank = (int)setup->rank, error = OK;
    struct vi_setup alone = {.secret = setup->secret, .ranks = setup->ranks, .local_ranks = &rank, .local_count = 1};
    struct call_seat *seat = calloc(1, sizeof(*seat));
    if (!seat)
        return vbase_fail(ERR_MEMORY, "a seat at the listener");
    seat->fd = setup->seat_fd;
    if (seat->fd < 0 || call_seat_note(seat->fd, &seat->note) != OK || seat->note.host != host) {
        seat->fd = -1;
        error = call_listener_open(&alone, &seat->listener);
        if (!error) {
            seat->fd = call_listener_seat(seat->listener, 0);
            error = call_seat_note(seat->fd, &seat->note);
        }
    }
    if (error)
        vi_seat_close(seat);
    else
        *out = seat;
    return error;
}

void vi_seat_close(struct call_seat *seat)
{
    if (seat && seat->listener) {
        close(seat->fd);
        call_listener_close(seat->listener);
    }
    free(seat);
}

int call_seat_join(struct call_nic *nic, const struct vi_setup *setup)
{
    struct call_seat **seat = setup->seat ? setup->seat : &nic->alone;
    int error = *seat ? OK : seat_open(setup, nic->cards.host, seat);
    if (error)
        return error;
    nic->seat = *seat;
    base_lock(&nic->seat->lock);
    nic->seat->nic[nic->provider->number] = nic;
    base_unlock(&nic->seat->lock);
    return OK;
}

void call_seat_leave(struct call_nic *nic)
{
    if (nic->seat) {
        base_lock(&nic->seat->lock);
        nic->seat->nic[nic->provider->number] = NULL;
        base_unlock(&nic->seat->lock);
    }
    list_take_each(node, &nic->passed)
        call_passed_drop(container_of(node, struct call_passed, node));
    vi_seat_close(nic->alone);
}
