/**
 * Names of message properties.
 *
 * JMS requires Java identifiers, so they differ from the names of Kafka headers.
 */
final class QueueNames {
    static final String RECORD = "onceproof_record";
    static final String ATTEMPT = "onceproof_attempt";
    static final String KEY = "onceproof_key";

    private QueueNames() {}
}
