# Echo servers and their clients, in the ways that Python has. Arguments: KIND PORT
import asyncio, hashlib, select, signal, socket, socketserver, sys

kind, address = sys.argv[1], ("127.0.0.1", int(sys.argv[2]))
sizes = [1, 10, 100, 5000, 70000, 3, 400000, 20]
pattern = bytes(i * 7 % 251 for i in range(400000))


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve():
    server = await asyncio.start_server(echo, *address)
    await server.serve_forever()


async def ask(name):
    reader, writer = await asyncio.open_connection(*address)
    digest = hashlib.sha256()
    for size in sizes * 3:
        writer.write(pattern[:size])
        digest.update(await reader.readexactly(size))
    writer.write_eof()
    digest.update(await reader.read())
    writer.close()
    return name, digest.hexdigest()[:16]


async def ask_all():
    for answer in await asyncio.gather(*[ask(i) for i in range(8)]):
        print(*answer)


def client():
    sockets = [socket.create_connection(address) for _ in range(6)]
    got, wanted = {s: b"" for s in sockets}, b"".join(pattern[:size] for size in sizes) * 2
    sent = {s: 0 for s in sockets}
    for s in sockets:
        s.setblocking(False)
    while any(len(got[s]) < len(wanted) for s in sockets):
        readable, writable, _ = select.select(sockets, [s for s in sockets if sent[s] < len(wanted)], [], 20)
        if not readable and not writable:
            sys.exit("nothing comes any more")
        for s in writable:
            sent[s] += s.send(wanted[sent[s]:sent[s] + 30000])
        for s in readable:
            got[s] += s.recv(50000)
    for s in sockets:
        s.setblocking(True)
        s.shutdown(socket.SHUT_WR)
        print(got[s] == wanted, s.recv(10))


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
socketserver.TCPServer.allow_reuse_address = True
if kind.startswith("uvloop"):
    import uvloop
    uvloop.install()
if kind == "threads":
    server = socketserver.ThreadingTCPServer(address, Echo)
    server.daemon_threads = True
    server.serve_forever()
elif kind == "processes":
    socketserver.ForkingTCPServer(address, Echo).serve_forever()
elif kind in ("asyncio", "uvloop"):
    asyncio.run(serve())
elif kind == "client":
    client()
else:
    asyncio.run(ask_all())
