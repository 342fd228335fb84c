import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Moments of a forwarder at which somebody may want it to stand still, to be killed just there.
 *
 * Who wants it writes the moment's name into the file `NAME.hold`; `NAME.held`
 * is there while it stands still, and says with which record. It goes on when `NAME.hold` is gone.
 */
final class Moments {
    private final Path wanted;
    private final Path held;

    Moments(Path folder, String name) {
        wanted = folder.resolve(name + ".hold");
        held = folder.resolve(name + ".held");
    }

    /** It is there; stand still if that is wanted. */
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
