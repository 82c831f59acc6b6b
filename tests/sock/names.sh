# Every function that reads, writes, waits for, copies or passes a descriptor, or makes a process, is taken if a program here uses
# it: the names that programs and libraries of this machine import are compared with what the preload exports.
# presets: release programs
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v nm >/dev/null || skip "nm is not installed"
library=$VIADUCT_BUILD/lib/libviaduct-sock.so
nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u >"$work/taken"

# All names of that kind that glibc has; those in `passed` need not be taken, with the reason.
kind='^(__)?((p?readv?2?|p?writev?2?|recv|recvfrom|recvmsg|recvmmsg|send|sendto|sendmsg|sendmmsg|sendfile|splice)(64)?(v2)?(_chk)?'
kind+='|p?poll(_chk)?|p?select|epoll_(create1?|ctl|wait|pwait2?)|close|closefrom|close_range|dup[23]?|fcntl(64)?|ioctl|accept4?|connect'
kind+='|shutdown|[gs]etsockopt|socket|fdopen|v?dprintf(_chk)?|fork|vfork|_Fork|daemon|forkpty|posix_spawnp?|system|popen'
kind+='|io_uring_(setup|queue_init(_params|_mem)?)|clone|posix_spawn_file_actions_adddup2|exec[vl]p?e?|fexecve|execveat|execvpe|sigaction|signal|syscall|aio_(read|write)(64)?|lio_listio(64)?)$'
passed='^(p(read|write)(v|64|v64)?(_chk)?|__p(read|write)(64)?(_chk)?)$' # of a socket they are an error, at any offset
files="$(ls /bin/bash /bin/cat /usr/bin/python3* /usr/bin/curl /usr/bin/ssh /usr/bin/git /usr/bin/perl 2>/dev/null)
$(ls "$VIADUCT_SOURCE"/build/{programs,sshd}/usr/{bin,sbin}/* /usr/lib/postgresql/*/bin/* 2>/dev/null)
$(ls /usr/lib/*-linux-gnu/lib{ssl,crypto,curl,event,uv,pq}*.so.* 2>/dev/null)"
seen=0
for file in $files; do
    [ -f "$file" ] || continue
    seen=$((seen + 1))
    nm -D --undefined-only "$file" 2>/dev/null | sed 's/.* U //; s/@.*//' | grep -E "$kind" | grep -vE "$passed" | sort -u >"$work/used"
    missing=$(comm -13 "$work/taken" "$work/used" | paste -sd' ')
    [ -z "$missing" ] || fail "$file uses $missing"
done
[ $seen -ge 3 ] || skip "no programs here to look at"
finish
