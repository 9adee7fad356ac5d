/** Says that it runs, and goes on until its input ends. */
public class Waiter {
  public static void main(String[] arguments) throws Exception {
    System.out.println("running");
    System.out.flush();
    while (System.in.read() >= 0) {
    }
  }
}
