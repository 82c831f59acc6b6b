/* What the loader will do with a program, from its file and its environment; see program.h. The loader takes
 * LD_PRELOAD for what has the same interpreter as this process and no rights beyond those of its user. A script is run
 * by the program that its first line names. */
#include "sock/program.h"
#include "base/settings.h"
#include "sock/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS 4 /* that name each other */

static const char *value_of(char *const envp[], const char *name)
{
    size_t length = strlen(name);
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    return NULL;
}

/* One of the words, which any of SEPARATORS part. */
static bool has_word(const char *text, const char *word, const char *separators)
{
    size_t length = strlen(word);
    while (text && *text) {
        size_t n = strcspn(text, separators);
        if (n == length && memcmp(text, word, n) == 0)
            return true;
        text += n + (text[n] != '\0');
    }
    return false;
}

static bool is_told(char *const envp[])
{
    Dl_info self;
    return dladdr((const void *)(uintptr_t)&sock_program_has_library, &self) != 0 &&
           has_word(value_of(envp, "LD_PRELOAD"), self.dli_fname, " :") &&
           !has_word(value_of(envp, "VIADUCT_SOCK"), "off", " ");
}

/* The loader of this process; NULL: it has none. */
static const char *own_interpreter(void)
{
    const ElfW(Phdr) *part = (const ElfW(Phdr) *)(uintptr_t)getauxval(AT_PHDR); /* NOLINT: the kernel says so */
    uintptr_t moved = 0;
    const char *name = NULL;
    for (unsigned long i = 0; part && i < getauxval(AT_PHNUM); i++) {
        if (part[i].p_type == PT_PHDR)
            moved = (uintptr_t)part - part[i].p_vaddr;
        else if (part[i].p_type == PT_INTERP)
            name = (const char *)(moved + part[i].p_vaddr);
    }
    return name;
}

static bool same_interpreter(int fd, const ElfW(Ehdr) *head)
{
    const char *own = own_interpreter();
    char name[PATH_MAX];
    for (unsigned i = 0; own && i < head->e_phnum; i++) {
        ElfW(Phdr) part;
        if (head->e_phentsize != sizeof(part) ||
            pread(fd, &part, sizeof(part), (off_t)(head->e_phoff + i * sizeof(part))) != sizeof(part))
            return false;
        if (part.p_type == PT_INTERP)
            return part.p_filesz == strlen(own) + 1 && part.p_filesz <= sizeof(name) &&
                   pread(fd, name, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz &&
                   memcmp(name, own, part.p_filesz) == 0;
    }
    return false;
}

/* The file has the rights of a user of its own: then the loader drops what the environment says. */
static bool has_rights(int fd)
{
    struct stat status;
    return fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || (status.st_mode & (S_ISUID | S_ISGID)) ||
           fgetxattr(fd, "security.capability", NULL, 0) >= 0;
}

static bool file_has_library(const char *path)
{
    union {
        ElfW(Ehdr) program;
        char script[256];
    } head;
    char next[sizeof(head) + 1];
    for (int i = 0; i < SCRIPTS; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe, which is refused below */
        ssize_t n = fd >= 0 && !has_rights(fd) ? pread(fd, &head, sizeof(head), 0) : -1;
        bool script = n > 2 && memcmp(head.script, "#!", 2) == 0;
        bool found = !script && n >= (ssize_t)sizeof(head.program) &&
                     memcmp(head.program.e_ident, ELFMAG, SELFMAG) == 0 && same_interpreter(fd, &head.program);
        if (fd >= 0)
            sock_real.close(fd);
        if (!script)
            return found;
        head.script[n < (ssize_t)sizeof(head) ? n : (ssize_t)sizeof(head) - 1] = '\0';
        if (sscanf(head.script, "#! %255[^ \t\n]", next) != 1)
            return false;
        path = next;
    }
    return false;
}

/* As execvp looks for it. */
static bool path_find(const char *name, char found[PATH_MAX])
{
    const char *folders = vbase_environment("PATH");
    for (folders = folders ? folders : "/bin:/usr/bin"; *folders; folders += *folders == ':') {
        size_t n = strcspn(folders, ":");
        int length = snprintf(found, PATH_MAX, "%.*s%s%s", (int)n, folders, n ? "/" : "", name);
        if (length < PATH_MAX && access(found, X_OK) == 0)
            return true;
        folders += n;
    }
    return false;
}

bool sock_program_has_library(const char *path, char *const envp[])
{
    char found[PATH_MAX];
    if (!path || !is_told(envp))
        return false;
    if (strchr(path, '/'))
        return file_has_library(path);
    return path_find(path, found) && file_has_library(found);
}
