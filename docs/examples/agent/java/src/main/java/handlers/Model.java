package handlers;

import java.util.List;

/** Stands in for a language model: it gets the conversation, and answers with its next move. */
final class Model {
  record Message(String role, String text) {}

  /** A tool with its input, or something to say, or neither: done. */
  public record Move(String tool, String input, String say) {}

  static Move next(List<Message> conversation) {
    List<String> heard = texts(conversation, "tool");
    int said = texts(conversation, "agent").size();
    if (heard.isEmpty()) return new Move("findFlight", conversation.get(0).text(), null);
    if (heard.size() == 1) return new Move("book", heard.get(0), null);
    if (said == 0) return new Move(null, null, "Here is what I did:");
    if (said == 1) return new Move(null, null, heard.get(1) + ".");
    return new Move(null, null, null);
  }

  static List<String> texts(List<Message> conversation, String role) {
    return conversation.stream().filter(m -> m.role().equals(role)).map(Message::text).toList();
  }

  private Model() {}
}
