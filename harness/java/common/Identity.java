/** Headers that identify a record and its send attempt: see `harness/history/identity.py`. */
final class Identity {
    static final String RECORD = "onceproof-record";
    static final String ATTEMPT = "onceproof-attempt";

    private Identity() {}
}
