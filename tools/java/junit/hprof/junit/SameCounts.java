package hprof.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails unless its thread calls each method, and makes objects of each class, as often as a file says, which a run
 * with {@code -Dhprof.update=true} writes. See {@link HprofExtension}.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(HprofExtension.class)
public @interface SameCounts {
    /** The folder of the files, one for each test and invocation of a parameterised one. */
    String value() default "src/test/resources/hprof";
}
