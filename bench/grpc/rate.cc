/* What gRPC does of the same: one server, CLIENTS processes that call it over a Unix socket, each with UNDER_WAY calls at a time.
 *
 *   rate CLIENTS SECONDS UNDER_WAY     prints "rate CALLS_A_SECOND"
 *
 * The server is of the callback kind, which its documents call the fastest. */
#include "nothing.grpc.pb.h"
#include <grpcpp/grpcpp.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

struct Server final : bench::Bench::CallbackService {
    grpc::ServerUnaryReactor *Call(grpc::CallbackServerContext *context, const bench::Nothing *, bench::Nothing *) override
    {
        grpc::ServerUnaryReactor *reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
    }
};

static void serve(const std::string &address)
{
    Server server;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&server);
    std::unique_ptr<grpc::Server> running = builder.BuildAndStart();
    running->Wait();
}

struct Pending {
    grpc::ClientContext context;
    bench::Nothing reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<bench::Nothing>> reader;
};

static void start(bench::Bench::Stub &stub, grpc::CompletionQueue &queue)
{
    Pending *pending = new Pending;
    pending->context.set_wait_for_ready(true);
    pending->reader = stub.AsyncCall(&pending->context, bench::Nothing(), &queue);
    pending->reader->Finish(&pending->reply, &pending->status, pending);
}

static bool finish(grpc::CompletionQueue &queue)
{
    void *tag;
    bool ok;
    if (!queue.Next(&tag, &ok))
        return false;
    Pending *pending = static_cast<Pending *>(tag);
    bool well = ok && pending->status.ok();
    delete pending;
    return well;
}

static long call(const std::string &address, double seconds, int under_way)
{
    auto stub = bench::Bench::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::CompletionQueue queue;
    long count = 0;
    for (int i = 0; i < under_way; i++)
        start(*stub, queue);
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; std::chrono::steady_clock::now() < end && finish(queue); count++)
        start(*stub, queue);
    for (int i = 0; i < under_way; i++)
        count += finish(queue);
    return count;
}

/* One after another by the blocking call, which is quicker than a queue. */
static long call_blocking(const std::string &address, double seconds)
{
    auto stub = bench::Bench::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    long count = 0;
    for (auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
         std::chrono::steady_clock::now() < end; count++) {
        grpc::ClientContext context;
        bench::Nothing reply;
        context.set_wait_for_ready(true);
        if (!stub->Call(&context, bench::Nothing(), &reply).ok())
            break;
    }
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int clients = atoi(argv[1]), under_way = atoi(argv[3]), back[2];
    double seconds = atof(argv[2]);
    std::string address = "unix:/tmp/grpc-rate-" + std::to_string(getpid());
    std::vector<pid_t> client;
    if (pipe(back))
        return 1;
    pid_t server = fork(); /* before the library has threads */
    if (server == 0) {
        serve(address);
        _exit(0);
    }
    for (int i = 0; i < clients; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            long count = under_way > 1 ? call(address, seconds, under_way) : call_blocking(address, seconds);
            _exit(write(back[1], &count, sizeof count) != sizeof count);
        }
        client.push_back(pid);
    }
    long all = 0, one;
    for (int i = 0; i < clients; i++)
        if (read(back[0], &one, sizeof one) == sizeof one)
            all += one;
    for (pid_t pid : client)
        waitpid(pid, nullptr, 0);
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    unlink(address.c_str() + sizeof "unix:" - 1);
    printf("rate %.0f\n", (double)all / seconds);
}
