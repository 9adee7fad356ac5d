import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Writes all messages of a topic, each behind its length: BROKER TOPIC FILE. */
public class KafkaReads {
    public static void main(String[] arguments) throws Exception {
        Properties options = new Properties();
        options.put("bootstrap.servers", arguments[0]);
        List<TopicPartition> parts = Collections.singletonList(new TopicPartition(arguments[1], 0));
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer());
             DataOutputStream out = new DataOutputStream(new FileOutputStream(arguments[2]))) {
            reader.assign(parts);
            reader.seekToBeginning(parts);
            long end = reader.endOffsets(parts).get(parts.get(0));
            while (reader.position(parts.get(0)) < end) {
                for (ConsumerRecord<byte[], byte[]> message : reader.poll(Duration.ofSeconds(1))) {
                    out.writeInt(message.value().length);
                    out.write(message.value());
                }
            }
        }
    }
}
