package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** As JDK 9 and later have it: the VM knows it by its name. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {}
