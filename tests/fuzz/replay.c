/* Runs the targets of this folder over files:  fuzz-NAME FILE-OR-FOLDER...   The name chooses, as in lib/main.c. */
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#define TARGET(name, function) int function(const uint8_t *data, size_t size);
#include "table.def"
#undef TARGET

static const struct target {
    const char *name;
    int (*function)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name, function) {name, function},
#include "table.def"
};

static int files;

static void run(const struct target *target, const char *path)
{
    struct stat stat_of;
    FILE *file = stat(path, &stat_of) == 0 ? fopen(path, "rb") : NULL;
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)stat_of.st_size;
    uint8_t *data = malloc(size ? size : 1); /* of just this size: reading past the end is seen */
    if (!data || fread(data, 1, size, file) != size)
        exit(1);
    fclose(file);
    target->function(data, size);
    free(data);
    files++;
}

static void run_all(const struct target *target, const char *path)
{
    DIR *folder = opendir(path);
    char name[1000];
    if (!folder) {
        run(target, path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            run(target, name);
        }
    closedir(folder);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (int file = 1; file < argc && strcmp(name, targets[i].name) == 0; file++)
            run_all(&targets[i], argv[file]);
    printf("%d inputs\n", files);
    return files == 0;
}
