/**
 * Percent-encodes all but the unreserved characters: letters, digits and `-._~` (RFC 3986, section
 * 2.3).
 */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
