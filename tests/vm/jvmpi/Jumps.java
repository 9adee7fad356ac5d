/** Jumps and switches, each of which goes each way. */
public class Jumps {
    static int go(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            switch (i) {
                case 0: sum += 1; break;
                case 1: sum += 10; break;
                case 3: sum += 100; break;
                default: sum += 1000;
            }
            switch (i * 1000) {
                case 0: sum++; break;
                case 1000: sum += 2; break;
                case 900000: sum += 3; break;
                default: sum += 4;
            }
            if (i == 2) sum = -sum;
        }
        return sum;
    }

    public static void main(String[] arguments) {
        System.out.println(go(3));
    }
}
