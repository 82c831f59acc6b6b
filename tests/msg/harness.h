/* Ranks without a launcher: forks them over a node's segment, hands them their seats as our launcher does, and starts
 * the engine in each. The test's own settings are put into the environment before. Where the network is one of the
 * transports (VIADUCT_TRANSPORTS) a small server holds the ranks' addresses. */
#ifndef TESTS_MSG_HARNESS_H
#define TESTS_MSG_HARNESS_H

#include "base/error.h"
#include "boot/fake_server.h"
#include "boot/handover.h"
#include "check.h"
#include "msg/msg.h"
#include "vi/vi.h"
#include <sys/wait.h>
#include <unistd.h>

static struct msg_context *world; /* of the rank: context 0, everybody */

/* Without one: a job of one rank. */
static inline void harness_child(struct boot_handover_map *map, int node_fd, int index, void (*body)(int rank))
{
    char seat[64];
    check_failed = 0;
    map->seat[index].child = (uint32_t)getpid();
    snprintf(seat, sizeof seat, "%d,%d,%d,-1", map->fd, node_fd, index);
    setenv(HANDOVER_SEAT_VARIABLE, seat, 1);
    int error = vmsg_start();
    if (error) {
        fprintf(stderr, "rank %d does not start: %s\n", index, vbase_error_detail());
        exit(1);
    }
    CHECK_EQUAL(vmsg_context_open(0, NULL, vmsg_job()->size, vmsg_job()->rank, &world), OK);
    body(index);
    vmsg_context_close(world);
    vmsg_stop();
    exit(check_done());
}

#define HARNESS_RANKS 32

/* A key-value server for RANKS; THERE are the ranks' ends. 0 where none is needed. */
static inline pid_t harness_serve(int ranks, int *there)
{
    const char *transports = getenv("VIADUCT_TRANSPORTS");
    int here[HARNESS_RANKS], pair[2];
    if (!transports || !strstr(transports, "tcp"))
        return 0;
    for (int i = 0; i < ranks; i++) {
        CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        here[i] = pair[0];
        there[i] = pair[1];
    }
    pid_t server = fork();
    for (int i = 0; i < ranks; i++)
        close(server ? here[i] : there[i]);
    if (server == 0) {
        fake_serve(here, ranks, PLAIN);
        _exit(0);
    }
    return server;
}

static inline void harness_seat(int rank, int ranks, pid_t server, const int *there)
{
    char text[16];
    for (int i = 0; i < ranks && server; i++)
        if (i != rank)
            close(there[i]);
    snprintf(text, sizeof text, "%d", there[rank]);
    if (server)
        setenv("PMI_FD", text, 1);
}

#define HARNESS_DIES 99 /* a rank that calls _exit with this has died, and the others go on: they are told as by our launcher */

/* Runs BODY on RANKS ranks; counts those that fail as failures of the test. */
static inline void harness_run(int ranks, void (*body)(int rank))
{
    struct boot_handover_map map;
    int node_fd = -1, status, there[HARNESS_RANKS] = {0};
    pid_t pid[HARNESS_RANKS], server;
    CHECK_EQUAL(vboot_handover_create(ranks, ranks, &map), OK);
    CHECK_EQUAL(vi_node_create(ranks, &node_fd), OK);
    fflush(NULL);
    server = harness_serve(ranks, there);
    for (int i = 0; i < ranks; i++) {
        pid[i] = fork();
        CHECK(pid[i] >= 0);
        if (pid[i] == 0) {
            harness_seat(i, ranks, server, there);
            harness_child(&map, node_fd, i, body);
        }
    }
    for (int i = 0; i < ranks && server; i++)
        close(there[i]);
    for (int left = ranks; left;) {
        pid_t one = waitpid(-1, &status, 0);
        int rank = 0;
        while (rank < ranks && pid[rank] != one)
            rank++;
        if (one > 0 && rank == ranks) { /* the server */
            server = 0;
            continue;
        }
        left--;
        if (one > 0 && WIFEXITED(status) && WEXITSTATUS(status) == HARNESS_DIES) {
            vboot_handover_dead(&map, rank);
        } else if (one < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
            fprintf(stderr, "a rank ended with status 0x%x\n", (unsigned)status);
            check_failed++;
        }
    }
    if (server)
        waitpid(server, &status, 0);
    vboot_handover_close(&map);
    close(node_fd);
}

/* ---- data that tells where it came from -------------------------------------------------------------------------- */

static inline void fill(void *data, unsigned message, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)data)[i] = check_byte(message, i);
}

/* The place of the first wrong byte, BYTES if there is none. */
static inline size_t first_wrong(const void *data, unsigned message, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && ((const unsigned char *)data)[i] == check_byte(message, i))
        i++;
    return i;
}

#endif
