import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A consumer that times messages, as `harness/cost/reader.py` describes it: `QueueReader TASK`.
 *
 * TASK has `broker`, `topics` (queues) and `folder`.
 */
final class QueueReader {
    private static final Pattern STAMP = Pattern.compile("cost-(\\d+)-(\\d+)-(\\d+)-");
    private static final int AT_ONCE = 5_000;
    private static final long BREAK = 50_000;

    /** What was read of one block of one queue. */
    private static final class Block {
        private final List<Long> latencies = new ArrayList<>();
        private final Set<Long> numbers = new HashSet<>();
        private long again;
        private long last;
        private long stall;
    }

    private final Path folder;
    private final Map<String, Block> blocks = new HashMap<>();
    private long behind;
    private long inARow;
    private long over;
    private Block awaited;
    private long wanted;

    private QueueReader(JsonNode task) throws JMSException {
        folder = Path.of(task.get("folder").asText());
        var connection = Jms.connect(task.get("broker").asText(), "cost-reader");
        for (var queue : task.get("topics")) {
            var session = connection.createSession(Session.DUPS_OK_ACKNOWLEDGE);
            var name = queue.asText();
            session.createConsumer(session.createQueue(name))
                    .setMessageListener(message -> read(name, message));
        }
    }

    public static void main(String[] arguments) throws Exception {
        var json = new ObjectMapper();
        var reader = new QueueReader(json.readTree(arguments[0]));
        System.out.println("{\"ready\": true}");
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (var line = orders.readLine(); line != null; line = orders.readLine()) {
            System.out.println(json.writeValueAsString(reader.answer(json.readTree(line))));
        }
        Runtime.getRuntime().halt(0);
    }

    private synchronized void read(String queue, Message message) {
        var now = System.nanoTime();
        inARow = now < over + BREAK ? inARow + 1 : 1;
        if (inARow == AT_ONCE) {
            behind++;
            inARow = 0;
        }
        var stamp = STAMP.matcher(text(message));
        if (stamp.find()) {
            var block = blocks.computeIfAbsent(key(queue, stamp.group(2)), ignored -> new Block());
            if (block.numbers.add(Long.parseLong(stamp.group(3)))) {
                block.latencies.add(now - Long.parseLong(stamp.group(1)));
                block.stall = Math.max(block.stall, block.last == 0 ? 0 : now - block.last);
                block.last = now;
                if (block == awaited && block.latencies.size() >= wanted) {
                    notifyAll();
                }
            } else {
                block.again++;
            }
        }
        over = System.nanoTime();
    }

    private synchronized Map<String, Object> answer(JsonNode order)
            throws InterruptedException, IOException {
        var queue = order.get("topic").asText();
        var number = order.get("block").asText();
        var block = blocks.computeIfAbsent(key(queue, number), ignored -> new Block());
        var until = System.nanoTime() + (long) (order.get("seconds").asDouble() * 1e9);
        awaited = block;
        wanted = order.get("count").asLong();
        while (block.latencies.size() < wanted && System.nanoTime() < until) {
            wait(1 + (until - System.nanoTime()) / 1_000_000);
        }
        var bytes = ByteBuffer.allocate(Long.BYTES * block.latencies.size())
                .order(ByteOrder.nativeOrder());
        block.latencies.forEach(bytes::putLong);
        Files.write(folder.resolve(queue + "-" + number + ".i64"), bytes.array());
        var found = Map.<String, Object>of(
                "read", block.latencies.size(),
                "again", block.again,
                "last", block.last,
                "stall", block.stall / 1e9,
                "behind", behind);
        blocks.remove(key(queue, number));
        behind = 0;
        return found;
    }

    private static String key(String queue, String block) {
        return queue + "-" + block;
    }

    private static String text(Message message) {
        try {
            return new String(message.getBody(byte[].class), StandardCharsets.ISO_8859_1);
        } catch (JMSException error) {
            return "";
        }
    }
}
