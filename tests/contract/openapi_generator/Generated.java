package javax.annotation;

/** The mark of generated code, which Java itself no longer has; Maven would fetch it. */
public @interface Generated {
  String[] value();

  String date() default "";

  String comments() default "";
}
