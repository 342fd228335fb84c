import java.nio.file.Path;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * A queue broker: `QueueBroker CONFIGURATION`, until it is terminated.
 *
 * It is Artemis' embedded server with the given configuration file.
 */
final class QueueBroker {
    private QueueBroker() {}

    public static void main(String[] arguments) throws Exception {
        var broker = new EmbeddedActiveMQ();
        broker.setConfigResourcePath(Path.of(arguments[0]).toUri().toString());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                broker.stop();
            } catch (Exception error) {
                System.err.println("the broker did not stop cleanly: " + error);
            }
        }, "end"));
        broker.start();
        System.err.println("the broker is up");
        Thread.currentThread().join();
    }
}
