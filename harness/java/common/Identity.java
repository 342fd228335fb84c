/** What tells a record, and the attempt to send it, wherever it lies: see `harness/history/identity.py`. */
final class Identity {
    static final String RECORD = "onceproof-record";
    static final String ATTEMPT = "onceproof-attempt";

    private Identity() {}
}
