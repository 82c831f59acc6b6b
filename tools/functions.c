/* viaduct info --mpi: which functions of MPI are implemented and which are not yet, read from libmpi_abi itself: its
 * exported names, of which those in the section not_yet only return an error (src/mpi/not_yet.c). The file is mapped
 * and not loaded: it may be of another build. */
#include "verbs.h"
#include "base/compiler.h"
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NAMES 2048
struct names {
    int count;
    const char *name[MOST_NAMES];
};
struct library {
    const char *start;
    size_t size;
    struct names done, not_yet;
};

/* SIZE bytes at OFFSET of the file, NULL where it has none. */
static const void *piece(const struct library *library, uint64_t offset, uint64_t size)
{
    return offset <= library->size && size <= library->size - offset ? library->start + offset : NULL;
}

static const char *text_at(const struct library *library, const ElfW(Shdr) *strings, uint64_t at)
{
    const char *text = at < strings->sh_size ? piece(library, strings->sh_offset + at, strings->sh_size - at) : NULL;
    return text && memchr(text, 0, strings->sh_size - at) ? text : "";
}

static void add(struct names *names, const char *name)
{
    if (strncmp(name, "MPI_", 4) == 0 && names->count < MOST_NAMES)
        names->name[names->count++] = name;
}

/* Sorts the exported names into the two lists; false: not a library as it should be. */
static bool read_names(struct library *library)
{
    const ElfW(Ehdr) *head = piece(library, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    const ElfW(Shdr) *section = piece(library, head->e_shoff, (uint64_t)head->e_shnum * sizeof *section);
    if (!section || head->e_shstrndx >= head->e_shnum)
        return false;
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Sym) *symbol = piece(library, section[i].sh_offset, section[i].sh_size);
        if (section[i].sh_type != SHT_DYNSYM || !symbol || section[i].sh_link >= head->e_shnum)
            continue;
        for (size_t k = 0; k < section[i].sh_size / sizeof *symbol; k++) {
            int home = symbol[k].st_shndx;
            if (home == SHN_UNDEF || home >= head->e_shnum)
                continue;
            bool is_done = strcmp(text_at(library, &section[head->e_shstrndx], section[home].sh_name), "not_yet") != 0;
            add(is_done ? &library->done : &library->not_yet,
                text_at(library, &section[section[i].sh_link], symbol[k].st_name));
        }
    }
    return true;
}

/* libmpi_abi beside this program's folder; its descriptor, -1: not there. */
static int open_library(void)
{
    static const char *const places[] = {"../" LIB_DIR, "../lib"};
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    char *end = strrchr(self, '/');
    if (end)
        *end = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        snprintf(path, sizeof path, "%s/%s/libmpi_abi.so.1", self, places[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

static int by_name(const void *one, const void *two)
{
    return strcmp(*(const char *const *)one, *(const char *const *)two);
}

static void print_names(const char *title, struct names *names)
{
    int at = 0;
    qsort(names->name, (size_t)names->count, sizeof names->name[0], by_name);
    printf("%s: %d\n", title, names->count);
    for (int i = 0; i < names->count; i++) {
        if (at + (int)strlen(names->name[i]) > 110) {
            puts("");
            at = 0;
        }
        at += printf("  %s", names->name[i]);
    }
    puts(names->count ? "\n" : "");
}

void print_mpi(void)
{
    static struct library library;
    struct stat status;
    int fd = open_library();
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        library.start = start == MAP_FAILED ? NULL : start;
        library.size = (size_t)status.st_size;
    }
    if (fd >= 0)
        close(fd);
    if (!library.start || !read_names(&library)) {
        puts("libmpi_abi.so.1 is not beside this program: MPI is not installed with it");
        return;
    }
    print_names("Implemented", &library.done);
    print_names("Not yet: they return MPI_ERR_UNSUPPORTED_OPERATION (MPI_T_ERR_NOT_SUPPORTED)", &library.not_yet);
}
