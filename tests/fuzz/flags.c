/* The command line of mpiexec, words apart by line ends. What is read lives as long as the launcher, so nothing is freed. */
#include "fuzz.h"
#include "check.h"
#include "run/flags.h"
#include <fcntl.h>
#include <unistd.h>

int FUZZ(const uint8_t *data, size_t size)
{
    static struct run_options options;
    char *words[200] = {"mpiexec"}, *rest, *text;
    int count = 1;
    static int silent;
    if (!silent) { /* what is told of the flags */
        silent = open("/dev/null", O_WRONLY);
        dup2(silent, 1);
    }
    fuzz_begin(data, size);
    rest = text = fuzz_text();
    while (count < 199 && (words[count] = strsep(&rest, "\n")))
        if (!strstr(words[count], "file") && !strstr(words[count], "rf") && strcmp(words[count], "-f") != 0 &&
            !strstr(words[count], "app") && !strstr(words[count], "report-pid")) /* no files of this machine */
            count++;
    words[count] = NULL;
    memset(&options, 0, sizeof options);
    int error = options_read(&options, count, words);
    (void)error; /* refused is as good */
    return 0;
}
