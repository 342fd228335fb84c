import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import java.util.StringJoiner;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/**
 * Connections with short timeouts, and descriptions of errors.
 *
 * By default a call without a response waits for 30 s, and the client reconnects by itself. Here a
 * fault shows after two seconds, and the application reconnects, as after any other error.
 */
final class Jms {
    private static final int SOON = 2000;
    private static final int USUAL_WINDOW = 1 << 20;
    private static final int UNLIMITED = -1;

    private Jms() {}

    /** Open and start a connection; wait until the broker answers. */
    static Connection connect(String broker, String name) throws JMSException {
        return connect(broker, name, -1, USUAL_WINDOW);
    }

    /**
     * Open and start a connection to browse queues; fail if the broker does not answer at once.
     *
     * The broker sends what it has without waiting for credit: a browser that has used up its
     * credit may find the end of a queue before the broker has sent more.
     */
    static Connection connectAtOnce(String broker, String name) throws JMSException {
        return connect(broker, name, 1, UNLIMITED);
    }

    private static Connection connect(String broker, String name, int attempts, int window)
            throws JMSException {
        var settings = new StringJoiner("&", "tcp://" + broker + "?", "")
                .add("callTimeout=" + SOON)
                .add("connectionTTL=4000")
                .add("clientFailureCheckPeriod=1000")
                .add("initialConnectAttempts=" + attempts)
                .add("reconnectAttempts=0")
                .add("consumerWindowSize=" + window)
                .add("retryInterval=50")
                .add("connect-timeout-millis=" + SOON)
                .add("useTopologyForLoadBalancing=false");
        var factory = new ActiveMQConnectionFactory(settings.toString());
        Connection made = null;
        try {
            made = factory.createConnection();
            made.setClientID(name + "/" + Long.toHexString(Clock.now()));
            made.start();
            return made;
        } catch (JMSException error) {
            close(made);
            throw error;
        }
    }

    /** Close a connection, and only log a failure. */
    static void close(Connection connection) {
        if (connection == null) {
            return;
        }
        try {
            connection.close();
        } catch (JMSException error) {
            System.err.println("closing: " + words(error));
        }
    }

    /** The class, message and root cause of an error. */
    static String words(Throwable error) {
        var cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        var message = error.getClass().getSimpleName() + ": " + error.getMessage();
        return cause == error ? message : message + ", by " + cause.getClass().getSimpleName();
    }
}
