package check;

import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Service;

/** A service the ingress must not reach. */
@Service
public class Hidden {
  @Handler
  public String whisper(Context ctx, String text) {
    return text;
  }
}
