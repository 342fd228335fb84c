import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Windows of a forwarder at which a fault may hold it, in order to kill it there.
 *
 * The fault writes the names of windows to `NAME.hold`, one a line. While the forwarder is held,
 * `NAME.held` contains its record. It continues when `NAME.hold` no longer has the window. If there
 * is a file `NAME.passed`, it gets a line for every window: its name and the record.
 */
final class Moments {
    private final Path wanted;
    private final Path held;
    private final Path passed;

    Moments(Path folder, String name) {
        wanted = folder.resolve(name + ".hold");
        held = folder.resolve(name + ".held");
        passed = folder.resolve(name + ".passed");
    }

    /** Wait at this window if a fault holds it. */
    void reached(String moment, String record) {
        try {
            if (Files.exists(passed)) {
                Files.writeString(passed, moment + " " + record + "\n", StandardOpenOption.APPEND);
            }
            if (!wants(moment)) {
                return;
            }
            Files.writeString(held, record);
            while (wants(moment)) {
                Thread.sleep(5);
            }
            Files.deleteIfExists(held);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean wants(String moment) throws IOException {
        try {
            return Files.exists(wanted) && Files.readAllLines(wanted).contains(moment);
        } catch (NoSuchFileException gone) {
            return false;
        }
    }
}
