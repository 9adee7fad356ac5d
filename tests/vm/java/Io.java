import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * Reads and writes whose number, bytes and time the program knows. It ends with lines
 *
 * <pre>
 * io;OPERATION;TARGET;CALLS;BYTES;NANOSECONDS;WAITED
 * </pre>
 *
 * CALLS -1: not known. NANOSECONDS: around the calls, at least what they took; WAITED: while a thread was seen inside of one.
 *
 * <pre>
 * Io files              each method of the JDK's classes for files
 * Io transfers          between files, and of small parts of the JDK that decide by themselves how they read
 * Io sockets [virtual]  streams and channels; with virtual on virtual threads
 * Io tls STORE          over a TLS socket of its own, with the key of a store of PKCS12
 * Io many THREADS CALLS each thread writes to and reads from a file of its own and one that all share
 * Io rounds             prints "ready PID", then writes 1000 bytes to a file for each line read, and prints "did"
 * </pre>
 */
public class Io {
  static final Map<String, long[]> known = new TreeMap<>();
  static boolean virtual;

  interface Call {
    long run() throws Exception;
  }

  static synchronized void add(String operation, String target, long calls, long bytes, long nanos, long waited) {
    long[] sums = known.computeIfAbsent(operation + ";" + target, key -> new long[4]);
    if (calls < 0 || sums[0] < 0) {
      sums[0] = -1;
    } else {
      sums[0] += calls;
    }
    sums[1] += bytes;
    sums[2] += nanos;
    sums[3] += waited;
  }

  /** A call that moves so many bytes. */
  static void call(String operation, String target, long bytes, Call call) throws Exception {
    long begin = System.nanoTime();
    long moved = call.run();
    long nanos = System.nanoTime() - begin;
    if (moved != bytes) throw new IllegalStateException(operation + " " + target + " moved " + moved + ", not " + bytes);
    add(operation, target, 1, Math.max(bytes, 0), nanos, 0);
  }

  static void read(String target, long bytes, Call call) throws Exception {
    call("file read", target, bytes, call);
  }

  interface Write {
    void run() throws Exception;
  }

  static void write(String target, long bytes, Write write) throws Exception {
    call("file write", target, bytes, () -> {
      write.run();
      return bytes;
    });
  }

  /** The bytes that the calling thread has read and written, as the system counts them; null: not known. */
  static long[] counted() {
    byte[] text = new byte[4096];
    try (FileInputStream in = new FileInputStream("/proc/thread-self/io")) {
      int size = in.read(text);
      String[] words = new String(text, 0, size).split("\\s+");
      return new long[] {Long.parseLong(words[1]), Long.parseLong(words[3]), size};
    } catch (IOException e) {
      return null;
    }
  }

  static void streams() throws Exception {
    byte[] data = new byte[5000];
    try (FileOutputStream out = new FileOutputStream("stream.dat")) {
      write("stream.dat", 1, () -> out.write(65));
      write("stream.dat", 5000, () -> out.write(data));
      write("stream.dat", 2999, () -> out.write(data, 1, 2999));
    }
    try (FileInputStream in = new FileInputStream("stream.dat")) {
      read("stream.dat", 1, () -> in.read() == 65 ? 1 : 0);
      read("stream.dat", 5000, () -> in.read(data));
      read("stream.dat", 2999, () -> in.read(data, 0, 3000));
      read("stream.dat", -1, () -> in.read(data));
      read("stream.dat", -1, () -> in.read());
    }
  }

  static void randomAccess() throws Exception {
    byte[] data = new byte[700];
    try (RandomAccessFile file = new RandomAccessFile("random.dat", "rw")) {
      write("random.dat", 1, () -> file.write(1));
      write("random.dat", 700, () -> file.write(data));
      write("random.dat", 600, () -> file.write(data, 0, 600));
      write("random.dat", 3, () -> file.writeBytes("abc"));
      write("random.dat", 8, () -> file.writeChars("abcd"));
      write("random.dat", 7, () -> file.writeUTF("abcde"));
      file.seek(0);
      read("random.dat", 1, () -> file.read());
      read("random.dat", 700, () -> file.read(data));
      read("random.dat", 500, () -> file.read(data, 0, 500));
      read("random.dat", 118, () -> {
        file.readFully(data, 0, 118);
        return 118;
      });
      read("random.dat", -1, () -> file.read(data));
    }
  }

  static void channels() throws Exception {
    ByteBuffer heap = ByteBuffer.allocate(1000), direct = ByteBuffer.allocateDirect(2000);
    Path path = Paths.get("channel.dat");
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      call("file write", "channel.dat", 1000, () -> file.write(heap));
      call("file write", "channel.dat", 2000, () -> file.write(direct, 1000));
      heap.clear();
      direct.clear();
      call("file write", "channel.dat", 3000, () -> file.write(new ByteBuffer[] {heap, direct}));
      heap.clear();
      direct.clear();
      call("file read", "channel.dat", 1000, () -> file.read(heap, 0));
      heap.clear();
      call("file read", "channel.dat", -1, () -> file.read(heap));
      file.position(500);
      call("file read", "channel.dat", 3000, () -> file.read(new ByteBuffer[] {heap, direct}));
    }
    try (FileOutputStream out = new FileOutputStream("of-stream.dat")) {
      heap.clear();
      call("file write", "of-stream.dat", 1000, () -> out.getChannel().write(heap));
    }
  }

  /** Four times, as classes that are loaded meanwhile may be read from files, too. */
  static void files() throws Exception {
    long[] least = null;
    for (int i = 0; i < 4; i++) {
      long[] before = counted();
      streams();
      randomAccess();
      channels();
      long[] after = counted();
      if (before == null) continue;
      long[] passed = {after[0] - before[0] - before[2], after[1] - before[1]};
      if (least == null || passed[0] < least[0]) least = passed;
    }
    if (least != null) System.out.println("counted;" + least[0] + ";" + least[1]);
    try (FileInputStream in = new FileInputStream("stream.dat")) {
      in.close();
      in.read();
    } catch (IOException e) {
      add("file read", "stream.dat", 1, 0, Long.MAX_VALUE / 2, 0);
    }
    try (FileInputStream in = new FileInputStream("missing.dat")) {
      throw new IllegalStateException("there is such a file");
    } catch (FileNotFoundException e) {
      // No call.
    }
  }

  static void transfers() throws Exception {
    byte[] data = new byte[100000];
    Files.write(Paths.get("from.dat"), data);
    add("file write", "from.dat", -1, data.length, Long.MAX_VALUE / 2, 0);
    Files.readAllBytes(Paths.get("from.dat"));
    add("file read", "from.dat", -1, data.length, Long.MAX_VALUE / 2, 0);
    Files.write(Paths.get("source.dat"), data);
    add("file write", "source.dat", -1, data.length, Long.MAX_VALUE / 2, 0);
    try (FileChannel from = FileChannel.open(Paths.get("source.dat")); FileOutputStream to = new FileOutputStream("to.dat");
        FileOutputStream other = new FileOutputStream("other.dat")) {
      if (from.transferTo(0, data.length, to.getChannel()) != data.length) throw new IllegalStateException("a part");
      if (other.getChannel().transferFrom(from, 0, data.length) != data.length) throw new IllegalStateException("a part");
    }
    add("file write", "to.dat", -1, data.length, Long.MAX_VALUE / 2, 0);
    add("file write", "other.dat", -1, data.length, Long.MAX_VALUE / 2, 0);
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(loopback(), 0));
        SocketChannel client = SocketChannel.open(server.getLocalAddress()); SocketChannel peer = server.accept();
        FileChannel from = FileChannel.open(Paths.get("source.dat"))) {
      long sent = from.transferTo(0, 1000, client);
      add("socket write", of(client.getRemoteAddress()), -1, sent, Long.MAX_VALUE / 2, 0);
    }
  }

  // --- sockets

  static InetAddress loopback() throws IOException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
  }

  static String of(Object address) {
    return of((InetSocketAddress) address);
  }

  static String of(InetSocketAddress address) {
    return "127.0.0.1:" + address.getPort();
  }

  static Thread start(Runnable body) throws Exception {
    if (virtual) return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    Thread thread = new Thread(body);
    thread.start();
    return thread;
  }

  /** It waits in a read. */
  static boolean waits(Thread thread) {
    boolean reads = false, waits = false;
    for (StackTraceElement frame : thread.getStackTrace()) {
      waits |= WAITS.contains(frame.getMethodName());
      reads |= frame.getMethodName().toLowerCase().contains("read") && !frame.getClassName().startsWith("java.lang");
    }
    return reads && waits;
  }

  /** Reads on a thread that has to wait: the write is made when it has been seen inside of the call for a while. */
  static void blocked(String target, int bytes, Call read, Write write) throws Exception {
    FutureTask<Void> task = new FutureTask<>(() -> {
      call("socket read", target, bytes, read);
      return null;
    });
    Thread thread = start(task);
    while (!waits(thread)) Thread.sleep(1);
    long begin = System.nanoTime();
    Thread.sleep(60);
    add("socket read", target, 0, 0, 0, System.nanoTime() - begin);
    write.run();
    task.get();
  }

  static final List<String> WAITS = Arrays.asList("socketRead0", "read0", "poll", "poll0", "park");

  static void streamsOfSockets(ServerSocket server) throws Exception {
    byte[] data = new byte[3000];
    try (Socket client = new Socket(loopback(), server.getLocalPort()); Socket peer = server.accept()) {
      String toServer = "127.0.0.1:" + server.getLocalPort();
      String toClient = server.getLocalPort() < 32768 && client.getLocalPort() >= 32768 ? "127.0.0.1:*" : "127.0.0.1:" + client.getLocalPort();
      OutputStream out = client.getOutputStream(), back = peer.getOutputStream();
      InputStream in = client.getInputStream(), from = peer.getInputStream();
      blocked(toClient, 1000, () -> from.read(data, 0, 1000), () -> call("socket write", toServer, 1000, () -> {
        out.write(data, 0, 1000);
        return 1000;
      }));
      call("socket write", toClient, 1, () -> {
        back.write(7);
        return 1;
      });
      call("socket read", toServer, 1, () -> in.read() == 7 ? 1 : 0);
      call("socket write", toClient, 3000, () -> {
        back.write(data);
        return 3000;
      });
      peer.close();
      int left = 3000;
      while (left != 0) {
        long begin = System.nanoTime();
        int size = in.read(data, 0, left);
        add("socket read", toServer, 1, size, System.nanoTime() - begin, 0);
        left -= size;
      }
      call("socket read", toServer, -1, () -> in.read(data));
    }
  }

  static void channelsOfSockets(boolean asStreams) throws Exception {
    ByteBuffer buffer = ByteBuffer.allocate(2000), direct = ByteBuffer.allocateDirect(500);
    byte[] data = new byte[900];
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(loopback(), 0));
        SocketChannel client = SocketChannel.open(server.getLocalAddress()); SocketChannel peer = server.accept()) {
      String toServer = of(client.getRemoteAddress()), toClient = of(client.getLocalAddress());
      if (asStreams) {
        InputStream in = peer.socket().getInputStream();
        OutputStream out = client.socket().getOutputStream();
        blocked(toClient, 900, () -> in.read(data), () -> call("socket write", toServer, 900, () -> {
          out.write(data);
          return 900;
        }));
        return;
      }
      blocked(toClient, 500, () -> peer.read(buffer), () -> call("socket write", toServer, 500, () -> client.write(direct)));
      buffer.flip();
      call("socket write", toClient, 500, () -> peer.write(new ByteBuffer[] {buffer}));
      direct.clear();
      call("socket read", toServer, 500, () -> client.read(new ByteBuffer[] {direct}));
      client.configureBlocking(false);
      direct.clear();
      call("socket read", toServer, 0, () -> client.read(direct));
    }
  }

  static ServerSocket belowClients() throws IOException {
    for (int port = 20000 + (int) (System.nanoTime() / 1000 % 5000); ; port++) {
      try {
        return new ServerSocket(port, 5, loopback());
      } catch (IOException e) {
        if (port > 32000) throw e;
      }
    }
  }

  // --- TLS

  /** It says how many bytes have gone through its streams. */
  static final class Counted extends Socket {
    final AtomicLong read = new AtomicLong(), written = new AtomicLong();

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          int value = in.read();
          if (value >= 0) read.incrementAndGet();
          return value;
        }

        @Override
        public int read(byte[] data, int offset, int length) throws IOException {
          int size = in.read(data, offset, length);
          if (size > 0) read.addAndGet(size);
          return size;
        }

        @Override
        public long skip(long most) throws IOException {
          long size = in.skip(most);
          read.addAndGet(size);
          return size;
        }
      };
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(int value) throws IOException {
          out.write(value);
          written.incrementAndGet();
        }

        @Override
        public void write(byte[] data, int offset, int length) throws IOException {
          out.write(data, offset, length);
          written.addAndGet(length);
        }
      };
    }

    void add(String target) {
      Io.add("socket read", target, -1, read.get(), Long.MAX_VALUE / 2, 0);
      Io.add("socket write", target, -1, written.get(), Long.MAX_VALUE / 2, 0);
    }
  }

  static SSLSocketFactory keys(String path) throws Exception {
    char[] password = "changeit".toCharArray();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(Paths.get(path))) {
      store.load(in, password);
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(store, password);
    TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trusted.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    return context.getSocketFactory();
  }

  static SSLSocket tls(SSLSocketFactory factory, Socket socket, boolean client) throws IOException {
    SSLSocket over = (SSLSocket) factory.createSocket(socket, "127.0.0.1", socket.getPort(), true);
    over.setUseClientMode(client);
    return over;
  }

  /** 100,000 bytes there, and as many back. */
  static void tls(String store) throws Exception {
    SSLSocketFactory factory = keys(store);
    byte[] sent = new byte[100000], got = new byte[sent.length];
    Arrays.fill(sent, (byte) 7);
    Counted there = new Counted(), here = new Counted();
    ServerSocket server = new ServerSocket() {
      @Override
      public Socket accept() throws IOException {
        implAccept(there);
        return there;
      }
    };
    server.bind(new InetSocketAddress(loopback(), 0));
    here.connect(server.getLocalSocketAddress());
    String toServer = "127.0.0.1:" + server.getLocalPort(), toClient = "127.0.0.1:" + here.getLocalPort();
    FutureTask<Void> echo = new FutureTask<>(() -> {
      try (SSLSocket socket = tls(factory, server.accept(), false)) {
        byte[] data = new byte[sent.length];
        new DataInputStream(socket.getInputStream()).readFully(data);
        socket.getOutputStream().write(data);
      }
      return null;
    });
    start(echo);
    try (SSLSocket socket = tls(factory, here, true)) {
      socket.getOutputStream().write(sent);
      new DataInputStream(socket.getInputStream()).readFully(got);
    }
    echo.get();
    if (!Arrays.equals(sent, got)) throw new IllegalStateException("another text came back");
    here.add(toServer);
    there.add(server.getLocalPort() < 32768 && here.getLocalPort() >= 32768 ? "127.0.0.1:*" : toClient);
  }

  static void sockets() throws Exception {
    FutureTask<Void> all = new FutureTask<>(() -> {
      try (ServerSocket server = new ServerSocket(0, 5, loopback()); ServerSocket low = belowClients()) {
        streamsOfSockets(server);
        streamsOfSockets(low);
      }
      channelsOfSockets(false);
      channelsOfSockets(true);
      return null;
    });
    start(all);
    all.get();
  }

  // --- threads

  static void many(int threads, int calls) throws Exception {
    byte[] data = new byte[100];
    try (FileChannel shared = FileChannel.open(Paths.get("shared.dat"), StandardOpenOption.CREATE, StandardOpenOption.READ,
        StandardOpenOption.WRITE)) {
      shared.write(ByteBuffer.wrap(data));
      add("file write", "shared.dat", 1, 100, Long.MAX_VALUE / 2, 0);
      FutureTask<?>[] tasks = new FutureTask<?>[threads];
      for (int i = 0; i < threads; i++) {
        String name = "own-" + i + ".dat";
        Callable<Void> body = () -> {
          ByteBuffer buffer = ByteBuffer.allocate(10);
          try (FileOutputStream own = new FileOutputStream(name)) {
            for (int call = 0; call < calls; call++) {
              own.write(data);
              buffer.clear();
              shared.read(buffer, 0);
            }
          }
          add("file write", name, calls, 100L * calls, Long.MAX_VALUE / 2 / threads, 0);
          add("file read", "shared.dat", calls, 10L * calls, Long.MAX_VALUE / 2 / threads, 0);
          return null;
        };
        tasks[i] = new FutureTask<>(body);
        start(tasks[i]);
      }
      for (FutureTask<?> task : tasks) task.get();
    }
  }

  static void rounds() throws Exception {
    System.out.println("ready " + Pid.own());
    try (FileOutputStream out = new FileOutputStream(new File("rounds.dat"))) {
      while (System.in.read() >= 0) {
        out.write(new byte[1000]);
        System.out.println("did");
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    virtual = arguments[arguments.length - 1].equals("virtual");
    switch (arguments[0]) {
      case "files":
        files();
        break;
      case "transfers":
        transfers();
        break;
      case "sockets":
        sockets();
        break;
      case "tls":
        tls(arguments[1]);
        break;
      case "many":
        many(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        break;
      default:
        rounds();
    }
    for (Map.Entry<String, long[]> each : known.entrySet()) {
      long[] sums = each.getValue();
      System.out.println("io;" + each.getKey() + ";" + sums[0] + ";" + sums[1] + ";" + sums[2] + ";" + sums[3]);
    }
  }
}
