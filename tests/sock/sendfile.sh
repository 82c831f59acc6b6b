# A connection on which nothing is ever called but one sendfile of a large file: it moves in the middle of it.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need python3
moves="0 8"
serve() {
    data 30000000 >file
    background $server python3 -c 'import os, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection = listener.accept()[0]
    file = os.open("file", os.O_RDONLY)
    print(os.sendfile(connection.fileno(), file, 0, 30000000), os.lseek(file, 0, os.SEEK_CUR), flush=True)
    os.close(file)
    connection.close()' $port
}
ready() { cat </dev/tcp/127.0.0.1/$port | cmp - file; } 2>/dev/null
talk() {
    check received $client python3 -c 'import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s, s.makefile("rb") as stream:
    sys.stdout.buffer.write(stream.read())' $port
    check sent cat server
}
combinations
