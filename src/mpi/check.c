/* VIADUCT_CHECK: places in the program. They are addresses until they are told; then addr2line, where it is installed,
 * makes file and line of them. */
#include "mpi/check.h"
#include "base/hash.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/auxv.h>

#define MOST_FRAMES 12

/* In this library, or in one that lies between it and the program: the entries for Fortran, the profile. */
static bool frame_is_ours(const Dl_info *frame, const Dl_info *own)
{
    const char *name = strrchr(frame->dli_fname, '/');
    return frame->dli_fbase == own->dli_fbase || strncmp(name ? name + 1 : frame->dli_fname, "libviaduct", 10) == 0;
}

void *mpi_check_caller(void)
{
    void *frame[MOST_FRAMES];
    Dl_info own, other;
    int count = backtrace(frame, MOST_FRAMES);
    if (!dladdr((void *)(uintptr_t)mpi_check_caller, &own))
        return NULL;
    for (int i = 0; i < count; i++)
        if (dladdr(frame[i], &other) && !frame_is_ours(&other, &own))
            return frame[i];
    return NULL;
}

/* Where the program itself lies: its headers begin in its first page. */
static uintptr_t program_base(void) { return getauxval(AT_PHDR) & ~(uintptr_t)4095; }

/* In the upper bits of a mark: ranks of one job may run different programs. */
#define OFFSET_BITS 40
static uint64_t program_mark(void)
{
    const void *headers = (const void *)(uintptr_t)getauxval(AT_PHDR);
    return vbase_hash_bytes(headers, getauxval(AT_PHNUM) * getauxval(AT_PHENT)) << OFFSET_BITS;
}

uint64_t mpi_check_mark(const void *caller)
{
    Dl_info info;
    bool ours = caller && dladdr(caller, &info) && (uintptr_t)info.dli_fbase == program_base();
    return ours ? program_mark() | ((uintptr_t)caller - program_base()) : 0;
}

const void *mpi_check_marked(uint64_t mark)
{
    uint64_t offset = mark ^ program_mark();
    return mark && offset >> OFFSET_BITS == 0 ? (void *)(program_base() + offset) : NULL;
}

const char *mpi_check_place(const void *caller, char text[400])
{
    Dl_info info;
    char command[600];
    snprintf(text, 400, "an unknown place");
    if (!caller || !dladdr(caller, &info) || !info.dli_fname || strchr(info.dli_fname, '\''))
        return text;
    uintptr_t offset = (uintptr_t)caller - 1; /* in the call, not behind it */
    if (((const ElfW(Ehdr) *)info.dli_fbase)->e_type == ET_DYN)
        offset -= (uintptr_t)info.dli_fbase;
    snprintf(text, 400, "%s in %s+0x%lx", info.dli_sname ? info.dli_sname : "code", info.dli_fname, (long)offset);
    snprintf(command, sizeof command, "addr2line -e '%s' 0x%lx 2>/dev/null", info.dli_fname, (long)offset);
    FILE *pipe = popen(command, "re");
    char line[400] = "";
    if (pipe && fgets(line, sizeof line, pipe) && line[0] != '?' && line[0] != 0) {
        line[strcspn(line, " \n")] = 0;
        memcpy(text, line, sizeof line);
    }
    if (pipe)
        pclose(pipe);
    return text;
}
