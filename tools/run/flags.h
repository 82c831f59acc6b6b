/* Between the reader of the command line (options.c) and the table of flags (flags.c). */
#pragma once

#include "run/options.h"

struct reader {
    struct run_options *options;
    struct run_app *app;    /* the part being read */
    const char *flag;       /* as written, for messages */
    const struct flag *row; /* of the table */
    int depth;              /* of configuration files */
};

/* One flag at word[0], with LEFT words from there; *used: how many it took. As options_read. */
int flag_read(struct reader *reader, char **word, int left, int *used) MUST_CHECK;
int flag_take_timeout(struct reader *reader, char **word) MUST_CHECK; /* also for MPIEXEC_TIMEOUT */

void flags_print_words(void);

int flag_wrong(const struct reader *reader, const char *word, const char *expected) MUST_CHECK;

/* placing.c, rankfile.c */
int placing_take_bind(struct reader *reader, char **word) MUST_CHECK;
int placing_take_map(struct reader *reader, char **word) MUST_CHECK;
int placing_take_ppr(struct reader *reader, char **word) MUST_CHECK;
int placing_take_rank(struct reader *reader, char **word) MUST_CHECK;
int rankfile_take(struct reader *reader, char **word) MUST_CHECK;

/* A file of parts, one a line. The words live as long as we do. */
int options_read_file(struct reader *reader, char **word) MUST_CHECK;

/* hosts.c: "a:4,b", or a host file, for the part being read. */
int hosts_read_list(struct reader *reader, char **word) MUST_CHECK;
int hosts_read_file(struct reader *reader, char **word) MUST_CHECK;
int hosts_add(struct reader *reader, const char *name, int slots) MUST_CHECK;

/* batch.c: -rmk NAME; the hosts of the batch job that we are part of, and what reaches them, where others are not
 * named. */
int batch_name_take(struct reader *reader, char **word) MUST_CHECK;
int batch_read(struct reader *reader) MUST_CHECK;
