"""What java/Calls.java does."""

# Calls of each method of java/Calls.java; fib(20) alone is 21891 calls.
COUNTS = {
    "Calls.fib": 21891 + 100 + 25 + 5 + 3 + 20 + 7,
    "Calls.thrower": 100 * 11 + 2 + 3 + 4 + 5,
    "Calls.catcher": 100,
    "Calls.afterCatch": 100,
    "Calls.broken": 50,
    "Calls$Broken.<init>": 50,
    "Calls.afterBroken": 25,
    "Calls.finallyOf": 5,
    "Calls.inFinally": 5,
    "Calls$Square.area": 1000,
    "Calls$Square.<init>": 1,
    "Calls.deep": 501,
    "Calls.afterOverflow": 3,
    "Calls.apply": 2,
    "Calls.plus": 20,
    "Calls.locked": 7,
    "Calls.platform": 1,
    "Calls.work": 6,
    "Calls.step": 6 * 20,
    "Calls.nap": 6 * 20,
    "Calls.main": 1,
}
