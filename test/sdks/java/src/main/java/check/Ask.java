package check;

import dev.restate.common.Request;
import dev.restate.common.RequestBuilder;
import dev.restate.common.Target;
import dev.restate.serde.Serde;
import dev.restate.serde.TypeTag;

/** Requests with a string in and a string out, the shape of nearly all handlers here. */
final class Ask {
  static RequestBuilder<String, String> kitchen(String handler, String input) {
    return to(Target.service("Kitchen", handler), input);
  }

  static RequestBuilder<String, String> box(String key, String handler, String input) {
    return to(Target.virtualObject("Box", key, handler), input);
  }

  static RequestBuilder<String, String> flow(String key, String handler, String input) {
    return to(Target.workflow("Flow", key, handler), input);
  }

  /** No input at all when it is null: a handler without input refuses even the JSON `null`. */
  @SuppressWarnings("unchecked")
  private static RequestBuilder<String, String> to(Target target, String input) {
    TypeTag<?> in = input == null ? Serde.VOID : TypeTag.of(String.class);
    return Request.of(target, (TypeTag<String>) in, TypeTag.of(String.class), input);
  }

  private Ask() {}
}
