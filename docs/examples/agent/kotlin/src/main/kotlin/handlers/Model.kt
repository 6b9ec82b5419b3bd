package handlers

import kotlinx.serialization.Serializable

/** Stands in for a language model: it gets the conversation, and answers with its next move. */
internal object Model {
  data class Message(val role: String, val text: String)

  /** A tool with its input, or something to say, or neither: done. */
  @Serializable
  data class Move(val tool: String? = null, val input: String = "", val say: String? = null)

  fun next(conversation: List<Message>): Move {
    val heard = texts(conversation, "tool")
    val said = texts(conversation, "agent").size
    return when {
      heard.isEmpty() -> Move(tool = "findFlight", input = conversation.first().text)
      heard.size == 1 -> Move(tool = "book", input = heard.first())
      said == 0 -> Move(say = "Here is what I did:")
      said == 1 -> Move(say = "${heard[1]}.")
      else -> Move()
    }
  }

  fun texts(conversation: List<Message>, role: String): List<String> =
      conversation.filter { it.role == role }.map { it.text }
}
