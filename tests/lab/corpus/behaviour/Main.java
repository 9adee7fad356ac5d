/** Runs the cases; standard output must be the same with and without probes. */
public final class Main {
  public static void main(String[] args) throws Exception {
    if (args.length > 0) Expect.read(args[0]);
    Case.run();
    if (!Expect.done()) System.exit(1);
  }
}
