/** Compares in constant time for texts of these lengths, so that its duration tells nothing. */
export function isSameText(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let i = 0; i < wanted.length; i++) {
    difference |= (given.charCodeAt(i) || 0) ^ wanted.charCodeAt(i);
  }
  return difference === 0;
}
