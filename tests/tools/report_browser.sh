# The page of mpiexec --report in a browser: its tables are read as they were written, it is drawn in light and in the dark, and it prints.
# timeout: 240 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libviaduct-profile.so" ] || skip "a build with sanitizers has no libviaduct-profile.so"
browser=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
expect 0 "" "" $mpiexec --report $work/page.html -n 4 $programs/report
browse() {
    timeout 60 $browser --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=$work/profile --hide-scrollbars \
        --window-size=900,2600 "$@" file://$work/page.html 2>$work/said
}

browse --dump-dom >$work/dom || fail "status $? of the browser: $(tail -3 $work/said)"
browse --screenshot=$work/light.png >/dev/null
browse --screenshot=$work/dark.png --blink-settings=preferredColorScheme=0 >/dev/null
browse --print-to-pdf=$work/page.pdf >/dev/null
[ "$(head -c 5 $work/page.pdf)" = %PDF- ] || fail "it does not print: $(tail -3 $work/said)"
python3 - $work <<'PYTHON' || fail "what the browser made of it"
import html.parser, struct, sys, zlib

class Tables(html.parser.HTMLParser):
    """The cells of the tables by id, as the browser has them in its tree."""
    def __init__(self):
        super().__init__()
        self.tables, self.rows, self.cell = {}, None, False
    def handle_starttag(self, tag, attributes):
        if tag == 'table':
            self.rows = self.tables.setdefault(dict(attributes).get('id'), [])
        elif tag == 'tr' and self.rows is not None:
            self.rows.append([])
        self.cell = tag in ('td', 'th')
        if self.cell:
            self.rows[-1].append('')
    def handle_endtag(self, tag):
        self.cell = self.cell and tag not in ('td', 'th', 'table', 'caption')
    def handle_data(self, data):
        if self.cell and self.rows:
            self.rows[-1][-1] += data.strip()
tables = Tables()
tables.feed(open(sys.argv[1] + '/dom').read())
calls = {row[0]: row for row in tables.tables['calls']}
assert calls['MPI_Send'][1] == '32' and len(calls['MPI_Send']) == 9, calls
pairs = {(row[0], row[1]): row[2] for row in tables.tables['pairs']}
expected = {(str(r), str((r + 1) % 4)): '13' for r in range(4)} | {(str((r + 1) % 4), str(r)): '2' for r in range(4)}
assert expected.items() <= pairs.items(), pairs

def picture(name):
    """Rows of (red, green, blue) of a PNG with 8 bits each."""
    data, at, rest = open(name, 'rb').read(), 8, b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack('>IIBB', body[:10])
        rest += body if kind == b'IDAT' else b''
        at += 12 + length
    assert depth == 8 and colour in (2, 6), (depth, colour)
    n, raw, rows, before = 3 if colour == 2 else 4, zlib.decompress(rest), [], None
    for y in range(height):
        line = bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        before, filtered = before or bytearray(len(line)), raw[y * (width * n + 1)]
        if filtered == 2: # the frequent ones at once
            line = bytearray(x + b & 255 for x, b in zip(line, before))
        elif filtered == 1:
            for i in range(n, len(line)):
                line[i] = line[i] + line[i - n] & 255
        for i in range(len(line)) if filtered > 2 else ():
            a, b, c = line[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            paeth = a if pa <= pb and pa <= pc else b if pb <= pc else c
            line[i] = line[i] + ((a + b) // 2 if filtered == 3 else paeth) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), n)])
        before = line
    return rows

for name, ground, ink in (('light', (255, 255, 255), (0x25, 0x63, 0xa8)), ('dark', (0x14, 0x17, 0x1b), (0x5b, 0x9b, 0xe0))):
    rows = picture(f'{sys.argv[1]}/{name}.png')
    assert rows[0][0] == ground, (name, rows[0][0])
    # the map is the only drawing with squares of a quarter of its width: the darkest, to the next rank, are full of ink
    runs = [max(map(len, ''.join('#' if p == ink else ' ' for p in row).split()), default=0) for row in rows]
    assert sum(run > 100 for run in runs) > 300, (name, max(runs))
PYTHON
finish
