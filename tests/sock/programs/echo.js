// Echo and web servers of node, and clients that ask them. Arguments: serve|ask PORT
const net = require("net"), http = require("http"), crypto = require("crypto");
const [kind, port] = [process.argv[2], +process.argv[3]];
const pattern = Buffer.from(Array.from({ length: 300000 }, (_, i) => (i * 7) % 251));

function serve() {
    net.createServer({ allowHalfOpen: true }, socket => socket.pipe(socket)).listen(port, "127.0.0.1");
    http.createServer((request, response) => request.pipe(response)).listen(port + 1, "127.0.0.1");
    process.on("SIGTERM", () => process.exit(0));
}

function echo(number) {
    return new Promise((resolve, reject) => {
        const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }), hash = crypto.createHash("sha256");
        let got = 0, asked = 0, rounds = 0;
        const ask = () => {
            if (rounds === 30) return socket.end();
            const size = 1 + ((number + rounds++) * 37493) % 300000;
            asked += size;
            socket.write(pattern.subarray(0, size));
        };
        socket.on("connect", ask);
        socket.on("data", data => { hash.update(data); got += data.length; if (got === asked) ask(); });
        socket.on("end", () => resolve(`${number} ${got} ${hash.digest("hex").slice(0, 16)}`));
        socket.on("error", reject);
    });
}

function post(agent, number) {
    return new Promise((resolve, reject) => {
        const request = http.request({ port: port + 1, host: "127.0.0.1", agent, method: "POST" }, response => {
            let size = 0;
            response.on("data", data => { size += data.length; });
            response.on("end", () => resolve(`post ${number} ${size}`));
        });
        request.on("error", reject);
        request.end(pattern.subarray(0, (number * 7919) % 200000));
    });
}

async function ask() {
    for (const line of await Promise.all([1, 2, 3, 4, 5, 6].map(echo))) console.log(line);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
    for (const line of await Promise.all(Array.from({ length: 60 }, (_, i) => post(agent, i)))) console.log(line);
    agent.destroy();
}

kind === "serve" ? serve() : ask();
