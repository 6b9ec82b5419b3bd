const WITH_USER = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'/?#]*@/i;
const WITH_QUERY = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"']*\?/i;

/**
 * Whether a text has a URL with a user or a query: some services take their tokens there, so that such a
 * value is not printed, whatever setting has it.
 */
export function hasUrlCredentials(text: string): boolean {
  return WITH_USER.test(text) || WITH_QUERY.test(text);
}
