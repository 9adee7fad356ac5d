package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import hprof.junit.MaxCalls;
import org.junit.jupiter.api.Test;

class OrdersTest {
    @Test
    @MaxCalls(of = "com.acme.Db.query", value = 3)
    void asksThreeTimesAtMost() {
        assertEquals(31 * 10, new Orders().total(1, 2, 3, 4));
    }
}
