/** Ends at once, with the exit code of its argument. */
public class Quick {
    public static void main(String[] arguments) {
        System.out.println("quick");
        if (arguments.length > 0) {
            System.exit(Integer.parseInt(arguments[0]));
        }
    }
}
