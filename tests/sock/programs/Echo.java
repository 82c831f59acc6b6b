// Echo servers and their clients. Arguments: blocking|selecting|ask PORT
import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.util.*;
import java.util.concurrent.*;

public class Echo {
    static final byte[] pattern = new byte[300000];

    static void blocking(int port) throws Exception {
        ServerSocket listener = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        while (true) {
            Socket socket = listener.accept();
            Thread thread = new Thread(() -> {
                try (socket) {
                    socket.getInputStream().transferTo(socket.getOutputStream());
                } catch (IOException e) {
                    // the client is gone
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }

    static void selecting(int port) throws Exception {
        Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    SocketChannel channel = listener.accept();
                    channel.configureBlocking(false);
                    channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(20000));
                    continue;
                }
                SocketChannel channel = (SocketChannel) key.channel();
                ByteBuffer buffer = (ByteBuffer) key.attachment();
                try {
                    if (key.isReadable() && channel.read(buffer) < 0) {
                        channel.close();
                        continue;
                    }
                    buffer.flip();
                    channel.write(buffer);
                    boolean left = buffer.hasRemaining();
                    buffer.compact();
                    key.interestOps((left ? SelectionKey.OP_WRITE : 0) | (buffer.hasRemaining() ? SelectionKey.OP_READ : 0));
                } catch (IOException e) {
                    channel.close();
                }
            }
            selector.selectedKeys().clear();
        }
    }

    static String client(int port, int number) throws Exception {
        long sum = 0, got = 0;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20000);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] answer = new byte[pattern.length];
            for (int round = 0; round < 30; round++) {
                int size = 1 + (number + round) * 37493 % 15000;
                socket.getOutputStream().write(pattern, 0, size);
                in.readFully(answer, 0, size);
                sum = sum * 31 + Arrays.hashCode(Arrays.copyOf(answer, size));
                got += size;
            }
            socket.setSoTimeout(50);
            try {
                in.read();
                sum++;
            } catch (SocketTimeoutException e) {
                got++;
            }
        }
        return number + " " + got + " " + sum;
    }

    // A socket that is closed wakes the thread that reads from it.
    static String closed(int port) throws Exception {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        for (int i = 0; i < 30; i++) {
            socket.getOutputStream().write(i);
            socket.getInputStream().read();
        }
        Future<String> reader = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        }).submit(() -> {
            try {
                return "read " + socket.getInputStream().read();
            } catch (SocketException e) {
                return e.getMessage();
            }
        });
        Thread.sleep(50);
        socket.close();
        return reader.get(10, TimeUnit.SECONDS);
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[1]);
        for (int i = 0; i < pattern.length; i++)
            pattern[i] = (byte) (i * 7 % 251);
        if (arguments[0].equals("blocking"))
            blocking(port);
        else if (arguments[0].equals("selecting"))
            selecting(port);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (int to = port; to < port + 2; to++) {
            List<Future<String>> answers = new ArrayList<>();
            int there = to;
            for (int i = 0; i < 6; i++) {
                int number = i;
                answers.add(threads.submit(() -> client(there, number)));
            }
            for (Future<String> answer : answers)
                System.out.println(answer.get());
            System.out.println(closed(to));
        }
        threads.shutdown();
    }
}
