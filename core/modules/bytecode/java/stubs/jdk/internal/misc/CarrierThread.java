package jdk.internal.misc;

/** JDK 21 and later; to compile against. */
public class CarrierThread extends Thread {}
