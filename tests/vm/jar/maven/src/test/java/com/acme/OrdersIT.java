package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import hprof.Counts;
import hprof.Hprof;
import org.junit.jupiter.api.Test;

class OrdersIT {
    @Test
    void asksOncePerOrder() {
        Orders orders = new Orders();
        Counts counts = Hprof.count(() -> orders.total(1, 2));
        assertEquals(2, counts.calls("com.acme.Db.query"));
        assertEquals(0, counts.objects("byte[]"), () -> counts.where("byte[]"));
    }
}
