# make dist, and reproducible builds: an archive of the sources makes itself again, and two builds of it in two folders install the
# same bytes.
# timeout: 900 takes: 250 presets: clang
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v cmake >/dev/null || skip "cmake is not installed"
unset LD_LIBRARY_PATH DESTDIR PREFIX
mkdir $work/tree
if [ -e "$VIADUCT_SOURCE/.git" ]; then list="git ls-files -co --exclude-standard"; else list="find . -path ./build* -prune -o -type f -print"; fi
(cd "$VIADUCT_SOURCE" && $list | tar -cf - -T -) | tar -xf - -C $work/tree || fail "the sources cannot be copied"
touch -d @1700000000 $work/tree/CMakeLists.txt
bash $work/tree/scripts/dist $work >$work/name || fail "scripts/dist"
archive=$(cat $work/name)
[[ ${archive##*/} =~ ^viaduct-[0-9.]+\.tar\.gz$ ]] || fail "the archive is called $archive"

places="$work/one $work/two/of/another/depth"
for place in $places; do
    mkdir -p $place
    tar -xzf $archive -C $place || fail "$archive does not unpack"
    mv $place/viaduct-* $place/tree
    bash $place/tree/scripts/dist $place >/dev/null || fail "no archive from an archive"
    cmp $archive $place/${archive##*/} || fail "the archive of an archive differs"
    # without optimization, which is faster; nothing is taken from the other build
    (cd $place/tree && CCACHE_DISABLE=1 cmake -B build -DVIADUCT_TESTS=OFF -DCMAKE_C_FLAGS_RELEASE="-O0 -g" &&
        CCACHE_DISABLE=1 cmake --build build -j2 && DESTDIR=$place/installed cmake --install build --prefix /opt/viaduct) >$place/log 2>&1 ||
        fail "it does not build: $(tail -3 $place/log)"
done
diff -rq --no-dereference $work/one/installed $work/two/of/another/depth/installed >$work/differ || fail "two builds differ: $(head -5 $work/differ)"
[ -x $work/one/installed/opt/viaduct/bin/viaduct ] || fail "nothing is installed"
! grep -rlF $work $work/one/installed || fail "the folder of the build is in what is installed"

# what is not committed is not left out in silence
if command -v git >/dev/null; then
    git -C $work/tree init -q && git -C $work/tree -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
    expect 1 "" "~there is what is not committed" bash $work/tree/scripts/dist $work
fi
finish
