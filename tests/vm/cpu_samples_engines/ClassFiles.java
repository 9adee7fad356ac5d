// Writes the files of classes, the VM's own included: <folder> <class>...
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

public class ClassFiles {
  public static void main(String[] args) throws Exception {
    for (int i = 1; i < args.length; i++) {
      try (InputStream from = ClassLoader.getSystemResourceAsStream(args[i].replace('.', '/') + ".class")) {
        if (from != null) Files.copy(from, new File(args[0], args[i] + ".class").toPath(), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
