/* Host names and host files. Ranks run on this host alone: its own names are accepted, others are said to be too far.
 * No name is looked up anywhere. Syntaxes: "a:4,b", "a slots=4", "a:4", '#' begins a comment. */
#include "run/run.h"
#include "base/error.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_here(const char *name)
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) < 0)
        own[0] = 0;
    size_t plain = strcspn(own, "."), length = strlen(name);
    return strcasecmp(name, "localhost") == 0 || strncasecmp(name, "localhost.", 10) == 0 ||
           strncmp(name, "127.", 4) == 0 || strcmp(name, "::1") == 0 || strcasecmp(name, own) == 0 ||
           (length >= plain && strncasecmp(name, own, plain) == 0 && (name[plain] == 0 || name[plain] == '.'));
}

/* One host with its slots: "name", "name:4", "name slots=4 max_slots=8". */
static int add_host(char *text, int *slots)
{
    int count = 1;
    char *more = text + strcspn(text, " \t");
    if (*more)
        *more++ = 0;
    char *colon = strchr(text, ':');
    if (colon && colon != strrchr(text, ':'))
        colon = NULL; /* an IPv6 address */
    if (colon) {
        *colon = 0;
        if (!vboot_number(colon + 1, &count) && strcmp(colon + 1, "*") != 0)
            count = -1;
    }
    char *equal = strstr(more, "slots=");
    if (equal && (equal == more || equal[-1] != '_'))
        count = atoi(equal + 6);
    if (count < 0) {
        fprintf(stderr, "viaduct: host %s: the number of slots makes no sense\n", text);
        return ERR_ARGUMENT;
    }
    if (!is_here(text)) {
        fprintf(stderr, "viaduct: host %s is not this one; this version starts ranks on its own host only\n", text);
        return ERR_UNSUPPORTED;
    }
    *slots += count;
    return OK;
}

int hosts_read_list(const char *text, int *slots)
{
    char *copy = strdup(text), *rest = copy;
    int error = OK;
    for (char *host; copy && error == OK && (host = strsep(&rest, ","));)
        if (*host)
            error = add_host(host, slots);
    free(copy);
    return error;
}

int hosts_read_file(const char *path, int *slots)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int error = OK;
    if (!file) {
        fprintf(stderr, "viaduct: cannot read the host file %s\n", path);
        return ERR_ARGUMENT;
    }
    while (error == OK && getline(&line, &size, file) > 0) {
        char *start = line + strspn(line, " \t");
        start[strcspn(start, "#\n\r")] = 0;
        if (*start)
            error = add_host(start, slots);
    }
    free(line);
    fclose(file);
    return error;
}
