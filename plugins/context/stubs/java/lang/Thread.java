package java.lang;

/** Only to compile against: javac of JDK 17 does not know threadId(). */
public class Thread {
    public static native Thread currentThread();
    public final native long threadId();
}
