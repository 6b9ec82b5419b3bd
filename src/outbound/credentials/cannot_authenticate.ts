/** A request lacks what it would have to show. The message holds no secret. */
export class CannotAuthenticate extends Error {
  override name = "CannotAuthenticate";
}
