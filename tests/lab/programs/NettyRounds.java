import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.netty.util.internal.PlatformDependent;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** A server of Netty that echoes, and eight clients of it; FOLDER MESSAGES of each, one at a time. */
public class NettyRounds extends Rounds {
    static final int SIZE = 512, CLIENTS = 8;

    final EventLoopGroup servers = new NioEventLoopGroup(2), clients = new NioEventLoopGroup(2);
    final int messages;
    Channel server;

    NettyRounds(int messages) {
        this.messages = messages;
    }

    static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    final class Client extends ChannelInboundHandlerAdapter {
        final AtomicLong sum;
        final CountDownLatch ended;
        int sent;

        Client(AtomicLong sum, CountDownLatch ended) {
            this.sum = sum;
            this.ended = ended;
        }

        void send(ChannelHandlerContext context) {
            ByteBuf buffer = context.alloc().directBuffer(SIZE);
            for (int i = 0; i < SIZE; i += 8) buffer.writeLong(sent + i);
            sent++;
            context.writeAndFlush(buffer);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            while (buffer.isReadable()) sum.addAndGet(buffer.readLong());
            buffer.release();
            if (sent < messages) {
                send(context);
            } else {
                context.close().addListener(done -> ended.countDown());
            }
        }
    }

    @Override
    void start() throws Exception {
        server = new ServerBootstrap().group(servers).channel(NioServerSocketChannel.class).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Echo());
            }
        }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
    }

    @Override
    void round() throws Exception {
        AtomicLong sum = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(CLIENTS);
        for (int i = 0; i < CLIENTS; i++) {
            new Bootstrap().group(clients).channel(NioSocketChannel.class).handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new FixedLengthFrameDecoder(SIZE), new Client(sum, ended));
                }
            }).connect(server.localAddress()).sync();
        }
        ended.await();
        System.out.println("sum " + sum);
        System.err.println("truth netty " + PlatformDependent.usedDirectMemory());
    }

    @Override
    void stop() throws Exception {
        server.close().sync();
        servers.shutdownGracefully().sync();
        clients.shutdownGracefully().sync();
    }

    public static void main(String[] arguments) throws Exception {
        new NettyRounds(Integer.parseInt(arguments[1])).run();
    }
}
