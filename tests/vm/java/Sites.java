import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;

/** Makes objects in every way there is, each a known number of times; test_heap_sites.py has the numbers. */
public class Sites {
  static final int N = 20000; // often enough for the compilers
  static final List<Object> KEEP = new ArrayList<>();
  static int sum;

  static class Item { int a; }
  static class Gone { int a = 3; }
  static class Kept { long a; }
  static class Shared { long a; }
  static class Deep { Deep() { this(1); } Deep(int a) { super(); } }
  static class Deeper extends Deep { }
  static class Copy implements Cloneable {
    Copy copy() throws CloneNotSupportedException { return (Copy) super.clone(); }
  }
  static class Parcel implements Serializable { private static final long serialVersionUID = 1; int a = 7; }
  static class Broken { Broken() { throw new IllegalStateException(); } }
  class Inner { int a = sum; }
  enum Colour { RED, GREEN }

  static void plain() { for (int i = 0; i < N; i++) KEEP.set(0, new Item()); }
  static void gone() { for (int i = 0; i < N; i++) sum += new Gone().a; }
  static void deep() { for (int i = 0; i < N; i++) KEEP.set(0, new Deeper()); }
  static void arrays() {
    for (int i = 0; i < N; i++) {
      KEEP.set(0, new int[3]);
      KEEP.set(0, new String[2]);
      KEEP.set(0, new boolean[i & 15]);
    }
  }
  static void nested() {
    for (int i = 0; i < N; i++) {
      KEEP.set(0, new int[2][3]);
      KEEP.set(0, new Item[2][2][]);
    }
  }
  static void boxing() { for (int i = 0; i < N; i++) KEEP.set(0, i + 1000); }
  static int many(Object... of) { return of.length; }
  static void varargs() { for (int i = 0; i < N; i++) sum += many("a", "b"); }
  static void anonymous() {
    for (int i = 0; i < N; i++) KEEP.set(0, new Object() { @Override public String toString() { return "a"; } });
  }
  void inner() { for (int i = 0; i < N; i++) KEEP.set(0, new Inner()); }
  static void enums() { for (int i = 0; i < N; i++) sum += Colour.values().length; }
  static void lambdas() {
    for (int i = 0; i < N; i++) {
      int a = i;
      IntSupplier supplier = () -> a;
      KEEP.set(0, supplier);
    }
  }
  static void reflection() throws Exception {
    Constructor<Item> constructor = Item.class.getDeclaredConstructor();
    for (int i = 0; i < N; i++) {
      KEEP.set(0, constructor.newInstance());
      KEEP.set(0, Array.newInstance(Item.class, 3));
    }
  }
  static void reflectedArrays() { for (int i = 0; i < 500; i++) KEEP.set(0, Array.newInstance(Item.class, 2, 2)); }
  static void clones() throws Exception {
    Copy copy = new Copy();
    long[] array = new long[4];
    for (int i = 0; i < N; i++) {
      KEEP.set(0, copy.copy());
      KEEP.set(0, array.clone());
    }
  }
  static void copies() {
    Item[] items = new Item[1];
    char[] chars = new char[2];
    for (int i = 0; i < N; i++) {
      KEEP.set(0, Arrays.copyOf(items, 3));
      KEEP.set(0, Arrays.copyOf(chars, 4));
    }
  }
  static void parcels() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ObjectOutputStream out = new ObjectOutputStream(bytes);
    out.writeObject(new Parcel());
    out.close();
    for (int i = 0; i < 500; i++) {
      KEEP.set(0, new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject());
    }
  }
  static void handles() throws Throwable {
    MethodHandle make = MethodHandles.lookup().findConstructor(Item.class, MethodType.methodType(void.class));
    for (int i = 0; i < N; i++) KEEP.set(0, (Item) make.invokeExact());
  }
  static void broken() {
    for (int i = 0; i < N; i++) {
      try {
        new Broken();
      } catch (IllegalStateException e) {
        sum++;
      }
    }
  }
  static void kept() {
    for (int i = 0; i < N; i++) {
      Kept kept = new Kept();
      if (i % 2 == 0) KEEP.add(kept);
      if (i % 4 == 0) KEEP.add(new Kept[i % 8]);
    }
  }
  static void threads() throws Exception {
    Thread[] threads = new Thread[8];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> {
        Object last = null;
        for (int k = 0; k < N; k++) last = new Shared();
        synchronized (KEEP) { KEEP.add(last); }
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
  }

  static void all() throws Throwable {
    plain();
    gone();
    deep();
    arrays();
    nested();
    boxing();
    varargs();
    anonymous();
    new Sites().inner();
    enums();
    lambdas();
    reflection();
    reflectedArrays();
    clones();
    copies();
    parcels();
    handles();
    broken();
    kept();
    threads();
  }

  /** once; stay: again and again, whenever a line comes, until the end of input. */
  public static void main(String[] arguments) throws Throwable {
    KEEP.add(null);
    if (arguments.length == 0) {
      all();
      KEEP.set(0, null);
      System.out.println(KEEP.size() + " " + (sum > 0));
      return;
    }
    System.out.println("ready " + Pid.own());
    for (int c; (c = System.in.read()) >= 0;) {
      if (c != '\n') continue;
      plain();
      kept();
      KEEP.set(0, null);
      System.out.println("did");
    }
    System.out.println("ended");
  }
}
