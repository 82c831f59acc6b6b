/* Processors as a rank file names them: "0-2" the first three cores, "1:0,2" the first and third core of socket 1,
 * "1:*" all of it, "p4" the processor that the kernel calls 4. Several of these with ';'. */
#include "run/job.h"

struct slots {
    const char *text; /* the whole, for messages */
    const struct run_place *place;
    int places;
    cpu_set_t *out;
};

static int slots_wrong(const struct slots *slots, const char *why)
{
    return vbase_fail(ERR_ARGUMENT, "rank file: slot=%s: %s", slots->text, why);
}

/* Cores FIRST to LAST, as they lie; SOCKET -1: of all sockets. How many there were. */
static int cores_add(const struct slots *slots, int socket, int first, int last)
{
    int core = -1, added = 0;
    for (int i = 0, before = -1; i < slots->places; i++) {
        const int *in = slots->place[i].in;
        if (socket >= 0 && in[UNIT_SOCKET] != socket)
            continue;
        core += core < 0 || slots->place[before].in[UNIT_CORE] != in[UNIT_CORE];
        before = i;
        if (core >= first && core <= last) {
            CPU_SET(in[UNIT_HWTHREAD], slots->out);
            added++;
        }
    }
    return added;
}

static int processors_add(const struct slots *slots, int first, int last)
{
    int added = 0;
    for (int i = 0; i < slots->places; i++)
        if (slots->place[i].in[UNIT_HWTHREAD] >= first && slots->place[i].in[UNIT_HWTHREAD] <= last) {
            CPU_SET(slots->place[i].in[UNIT_HWTHREAD], slots->out);
            added++;
        }
    return added;
}

/* "0-2,p4" or "*", to the next ';'. */
static int list_read(const struct slots *slots, const char **text, int socket)
{
    const char *at = *text;
    do {
        bool physical = *at == 'p' || *at == 'P';
        int first = 0, last = CPU_SETSIZE, used = 0;
        at += physical;
        if (*at == '*')
            used = 1;
        else if (sscanf(at, "%d-%d%n", &first, &last, &used) < 2 || used == 0) {
            if (sscanf(at, "%d%n", &first, &used) != 1)
                return slots_wrong(slots, "expected numbers of cores, like 0-2,5 or 1:0-2 or p4");
            last = first;
        }
        at += used;
        if ((physical ? processors_add(slots, first, last) : cores_add(slots, socket, first, last)) == 0)
            return slots_wrong(slots, "this host has no such processors, or they may not be used");
    } while (*at == ',' && at++);
    *text = at;
    return OK;
}

int slots_parse(const char *text, const struct run_place *place, int places, cpu_set_t *out)
{
    struct slots slots = {text, place, places, out};
    CPU_ZERO(out);
    for (const char *at = text ? text : "*"; *at;) {
        int socket = -1, used = 0;
        if (sscanf(at, "%d:%n", &socket, &used) != 1 || used == 0)
            socket = -1;
        else
            at += used;
        int error = list_read(&slots, &at, socket);
        if (error != OK)
            return error;
        if (*at && *at++ != ';')
            return slots_wrong(&slots, "expected ',' or ';' between its parts");
    }
    return OK;
}
