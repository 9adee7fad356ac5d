package hprof.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if its thread makes more objects.
 * A method of a test, or all of a class: {@code @MaxObjects(of = "byte[]", value = 3)}. See {@link HprofExtension}.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Repeatable(MaxObjects.All.class)
@ExtendWith(HprofExtension.class)
public @interface MaxObjects {
    /** The most objects that pass. */
    long value();

    /** The class, as in {@link hprof.Counts#objects(String)}; all if there is none. */
    String of() default "*";

    /** Several. */
    @Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @ExtendWith(HprofExtension.class)
    @interface All {
        MaxObjects[] value();
    }
}
