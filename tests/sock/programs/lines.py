# Lines to an echo (which may change letters), one after the other. Arguments: PORT COUNT
import socket, sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as s:
    stream = s.makefile("rwb")
    for i in range(int(sys.argv[2])):
        stream.write(b"line %d %s\n" % (i, b"abc" * (i % 50)))
        stream.flush()
        if i % 10 == 9:
            print(*[stream.readline() for _ in range(10)])
