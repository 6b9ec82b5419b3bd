/** A path we have, asked in a way it has not: 405 with the methods it has. */
export class WrongMethod extends Error {
  readonly allow: string;

  /** `allow`: the methods, as the header of this name has them. */
  constructor(allow: string) {
    super("Method not allowed");
    this.allow = allow;
  }
}
