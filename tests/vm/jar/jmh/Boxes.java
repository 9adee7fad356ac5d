package com.acme;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

@State(Scope.Thread)
public class Boxes {
    private int next = 1000;

    /** Three objects, and five calls: the constructors are those of Integer, Number and, without a count, Object. */
    @Benchmark
    @SuppressWarnings("deprecation")
    public Object box() {
        return new Object[] {new Integer(next++), new Integer(next++)};
    }
}
