package hprof.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if its thread calls a method more often.
 * A method of a test, or all of a class: {@code @MaxCalls(of = "com.acme.Db.query", value = 3)}. See {@link HprofExtension}.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Repeatable(MaxCalls.All.class)
@ExtendWith(HprofExtension.class)
public @interface MaxCalls {
    /** The most calls that pass. */
    long value();

    /** The method, as in {@link hprof.Counts#calls(String)}. */
    String of();

    /** Several. */
    @Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @ExtendWith(HprofExtension.class)
    @interface All {
        MaxCalls[] value();
    }
}
