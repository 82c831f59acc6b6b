/* What a rank says to the launcher's PMI server: any lines, from two ranks of a job of three. */
#include "fuzz.h"
#include "check.h"
#include <sys/socket.h>
#include "../../tools/run/pmi.c"

int FUZZ(const uint8_t *data, size_t size)
{
    static struct run_job job;
    static struct run_rank ranks[3];
    static struct run_app app;
    char *line, *text, *rest;
    int pair[2];
    memset(&job, 0, sizeof job);
    memset(ranks, 0, sizeof ranks);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 0;
    job.size = 3;
    job.rank = ranks;
    job.options.app = &app;
    job.head.fd = -1;
    for (int i = 0; i < 3; i++) {
        ranks[i].app = &app;
        ranks[i].pmi.fd = i ? -1 : pair[0];
    }
    fuzz_begin(data, size);
    rest = text = fuzz_text();
    for (int i = 0; (line = strsep(&rest, "\n")); i++) {
        char drained[65536];
        enum pmi_event event = rank_obey(&job, &ranks[i % 2], line);
        if (event > PMI_ABORT)
            abort();
        while (recv(pair[1], drained, sizeof drained, MSG_DONTWAIT) > 0)
            ;
    }
    if (size > 2)
        pmi_release(&job, (const char *)data, size);
    free(text);
    vboot_kvs_close(&job.kvs);
    vboot_kvs_close(&job.names);
    free(job.puts.data);
    close(pair[0]);
    close(pair[1]);
    return 0;
}
