import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Windows of a forwarder at which a fault may hold it, in order to kill it there.
 *
 * The fault writes the name of the window to `NAME.hold`. While the forwarder is held, `NAME.held`
 * contains its record. It continues when `NAME.hold` is removed.
 */
final class Moments {
    private final Path wanted;
    private final Path held;

    Moments(Path folder, String name) {
        wanted = folder.resolve(name + ".hold");
        held = folder.resolve(name + ".held");
    }

    /** Wait at this window if a fault holds it. */
    void reached(String moment, String record) {
        try {
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
            return Files.exists(wanted) && Files.readString(wanted).strip().equals(moment);
        } catch (NoSuchFileException gone) {
            return false;
        }
    }
}
