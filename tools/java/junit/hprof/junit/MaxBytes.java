package hprof.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if the objects that its thread makes have more bytes.
 * A method of a test, or all of a class: {@code @MaxBytes(65536)}. See {@link HprofExtension}.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Repeatable(MaxBytes.All.class)
@ExtendWith(HprofExtension.class)
public @interface MaxBytes {
    /** The most bytes that pass. */
    long value();

    /** The class, as in {@link hprof.Counts#bytes(String)}; all if there is none. */
    String of() default "*";

    /** Several. */
    @Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @ExtendWith(HprofExtension.class)
    @interface All {
        MaxBytes[] value();
    }
}
