package hprof;

import java.util.Arrays;

/** Decodes LZMA as {@code xz --format=lzma} writes it; names are those of its specification (LzmaSpec). */
final class Lzma {
    private static final int HEADER = 13;     // properties, the dictionary's size, the length
    private static final int STATES = 12;
    private static final int LITERALS = 0x300;

    private final byte[] in;
    private final byte[] out;
    private int at;
    private int position;
    private int range = -1;
    private int code;

    /** A decoder of the lengths of matches. */
    private final class Lengths {
        private final short[] choice = probabilities(2);
        private final short[] low = probabilities(16 << 3);
        private final short[] middle = probabilities(16 << 3);
        private final short[] high = probabilities(1 << 8);

        int decode(int state) {
            if (bit(choice, 0) == 0) return tree(low, state << 3, 3);
            return bit(choice, 1) == 0 ? 8 + tree(middle, state << 3, 3) : 16 + tree(high, 0, 8);
        }
    }

    private Lzma(byte[] in, int size) {
        this.in = in;
        this.out = new byte[size];
    }

    /**
     * Returns the bytes, of which there are {@code size}.
     *
     * @throws IndexOutOfBoundsException the data is damaged
     */
    static byte[] decode(byte[] in, int size) {
        Lzma decoder = new Lzma(in, size);
        decoder.run();
        return decoder.out;
    }

    private void run() {
        int properties = in[0] & 0xff;
        int lc = properties % 9, lp = properties / 9 % 5, pb = properties / 45;
        at = HEADER + 1;
        for (int i = 0; i < 4; i++) code = code << 8 | in[at++] & 0xff;
        short[] isMatch = probabilities(STATES << 4), isRep = probabilities(STATES), isRepG0 = probabilities(STATES);
        short[] isRepG1 = probabilities(STATES), isRepG2 = probabilities(STATES), isRep0Long = probabilities(STATES << 4);
        short[] literals = probabilities(LITERALS << lc + lp), slots = probabilities(4 << 6), places = probabilities(115), align = probabilities(16);
        Lengths lengths = new Lengths(), repLengths = new Lengths();
        int state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0;
        while (position < out.length) {
            int posState = position & (1 << pb) - 1;
            if (bit(isMatch, (state << 4) + posState) == 0) {
                int before = position > 0 ? out[position - 1] & 0xff : 0;
                literal(literals, LITERALS * (((position & (1 << lp) - 1) << lc) + (before >>> 8 - lc)), state, rep0);
                state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
                continue;
            }
            int length;
            if (bit(isRep, state) == 0) {
                rep3 = rep2;
                rep2 = rep1;
                rep1 = rep0;
                length = lengths.decode(posState);
                state = state < 7 ? 7 : 10;
                rep0 = distance(slots, places, align, Math.min(length, 3));
            } else {
                if (bit(isRepG0, state) == 0) {
                    if (bit(isRep0Long, (state << 4) + posState) == 0) {
                        state = state < 7 ? 9 : 11;
                        copy(rep0, 1);
                        continue;
                    }
                } else {
                    int distance = rep1;
                    if (bit(isRepG1, state) != 0) {
                        distance = rep2;
                        if (bit(isRepG2, state) != 0) {
                            distance = rep3;
                            rep3 = rep2;
                        }
                        rep2 = rep1;
                    }
                    rep1 = rep0;
                    rep0 = distance;
                }
                length = repLengths.decode(posState);
                state = state < 7 ? 8 : 11;
            }
            copy(rep0, length + 2);
        }
    }

    private void copy(int distance, int length) {
        for (int i = 0; i < length; i++, position++) out[position] = out[position - distance - 1];
    }

    private void literal(short[] literals, int offset, int state, int rep0) {
        int symbol = 1;
        if (state >= 7) {
            int matched = out[position - rep0 - 1] & 0xff;
            for (int same = 1; same == 1 && symbol < 0x100; matched <<= 1) {
                int wanted = matched >>> 7 & 1;
                int bit = bit(literals, offset + (1 + wanted << 8) + symbol);
                symbol = symbol << 1 | bit;
                same = bit == wanted ? 1 : 0;
            }
        }
        while (symbol < 0x100) symbol = symbol << 1 | bit(literals, offset + symbol);
        out[position++] = (byte) symbol;
    }

    private int distance(short[] slots, short[] places, short[] align, int state) {
        int slot = tree(slots, state << 6, 6);
        if (slot < 4) return slot;
        int bits = (slot >> 1) - 1;
        int distance = (2 | slot & 1) << bits;
        if (slot < 14) return distance + reverseTree(places, distance - slot, bits);
        return distance + (direct(bits - 4) << 4) + reverseTree(align, 0, 4);
    }

    private static short[] probabilities(int count) {
        short[] all = new short[count];
        Arrays.fill(all, (short) 1024);
        return all;
    }

    private int tree(short[] probabilities, int offset, int bits) {
        int symbol = 1;
        for (int i = 0; i < bits; i++) symbol = symbol << 1 | bit(probabilities, offset + symbol);
        return symbol - (1 << bits);
    }

    private int reverseTree(short[] probabilities, int offset, int bits) {
        int node = 1, symbol = 0;
        for (int i = 0; i < bits; i++) {
            int bit = bit(probabilities, offset + node);
            node = node << 1 | bit;
            symbol |= bit << i;
        }
        return symbol;
    }

    private int bit(short[] probabilities, int index) {
        int probability = probabilities[index];
        int bound = (range >>> 11) * probability;
        boolean isZero = Integer.compareUnsigned(code, bound) < 0;
        if (isZero) {
            range = bound;
            probabilities[index] += (short) (2048 - probability >> 5);
        } else {
            range -= bound;
            code -= bound;
            probabilities[index] -= (short) (probability >> 5);
        }
        normalise();
        return isZero ? 0 : 1;
    }

    private int direct(int bits) {
        int result = 0;
        for (int i = 0; i < bits; i++) {
            range >>>= 1;
            boolean isZero = Integer.compareUnsigned(code, range) < 0;
            if (!isZero) code -= range;
            result = result << 1 | (isZero ? 0 : 1);
            normalise();
        }
        return result;
    }

    private void normalise() {
        if (range >>> 24 == 0) {
            range <<= 8;
            code = code << 8 | in[at++] & 0xff;
        }
    }
}
