/** NativeObjects LIBRARY N: native code makes N objects of each kind by functions of JNI. */
public class NativeObjects {
    static class Item {
    }

    static class Bare {
    }

    static class Late {
    }

    static native void make(int count, Class<?> item, Class<?> bare, Class<?> late);

    public static void main(String[] arguments) {
        System.load(arguments[0]);
        make(Integer.parseInt(arguments[1]), Item.class, Bare.class, Late.class);
    }
}
