import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/** A broker of Kafka, controller too, a producer and a consumer; FOLDER MESSAGES in each round. */
public class KafkaRounds extends Rounds {
    static final int PARTS = 4;

    final Path folder;
    final int messages;
    KafkaRaftServer broker;
    String address;
    int number;

    KafkaRounds(String folder, int messages) {
        this.folder = Paths.get(folder);
        this.messages = messages;
    }

    static int port() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    void start() throws Exception {
        Files.createDirectories(folder);
        address = "127.0.0.1:" + port();
        String controller = "127.0.0.1:" + port();
        Properties options = new Properties();
        String[] values = {"process.roles", "broker,controller", "node.id", "1", "controller.quorum.voters", "1@" + controller, "listeners",
            "PLAINTEXT://" + address + ",CONTROLLER://" + controller, "controller.listener.names", "CONTROLLER", "log.dirs",
            folder.resolve("logs").toAbsolutePath().toString(), "offsets.topic.replication.factor", "1", "num.partitions", "" + PARTS};
        for (int i = 0; i < values.length; i += 2) options.put(values[i], values[i + 1]);
        Path path = folder.resolve("broker.properties");
        try (java.io.OutputStream out = Files.newOutputStream(path)) {
            options.store(out, null);
        }
        PrintStream said = new PrintStream(new ByteArrayOutputStream());
        int code = StorageTool.execute(new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", path.toString()}, said);
        if (code != 0) throw new IllegalStateException("not formatted: " + code);
        broker = new KafkaRaftServer(KafkaConfig.fromProps(options), Time.SYSTEM);
        broker.startup();
    }

    @Override
    void round() throws Exception {
        String topic = "topic" + number++;
        Map<String, Object> server = Map.of("bootstrap.servers", address);
        try (Admin admin = Admin.create(server)) {
            admin.createTopics(List.of(new NewTopic(topic, PARTS, (short) 1))).all().get();
        }
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(server, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < messages; i++) {
                producer.send(new ProducerRecord<>(topic, i % PARTS, null, ("message " + i).getBytes(StandardCharsets.UTF_8)));
                if (i % 20 == 0) producer.flush();
            }
        }
        List<TopicPartition> parts = new ArrayList<>();
        for (int part = 0; part < PARTS; part++) parts.add(new TopicPartition(topic, part));
        long sum = 0, read = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(server, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(parts);
            consumer.seekToBeginning(parts);
            while (read < messages) {
                for (ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ofSeconds(1))) {
                    sum += new String(message.value(), StandardCharsets.UTF_8).hashCode();
                    read++;
                }
            }
        }
        System.out.println("read " + read + " sum " + sum);
    }

    @Override
    void stop() {
        broker.shutdown();
        broker.awaitShutdown();
    }

    public static void main(String[] arguments) throws Exception {
        new KafkaRounds(arguments[0], Integer.parseInt(arguments[1])).run();
    }
}
