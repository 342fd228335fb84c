/**
 * Names of what a message carries beside its text.
 *
 * JMS takes only names that Java would take, so these are not those of Kafka's
 * headers.
 */
final class QueueNames {
    static final String RECORD = "onceproof_record";
    static final String ATTEMPT = "onceproof_attempt";
    static final String KEY = "onceproof_key";

    private QueueNames() {}
}
