package java.lang.invoke;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** As JDK 8 has it: the VM knows it by its name. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {}
