/**
 * Messages between two threads of one process: values as JSON has them, and bytes. A quarter of what the JSON
 * of `codec.ts` costs, for both ends are of one build, and what one has said the other remembers: the
 * names of an object's fields go over once (decision 096).
 *
 * A value is a tag and what the tag says. Numbers in front of texts, bytes, arrays and shapes are of seven
 * bits a byte, least first.
 */
export const Tag = {
  null: 0,
  false: 1,
  true: 2,
  /** A whole number from 0 to 2^31 - 1. */
  uint: 3,
  float: 4,
  /** Text of ASCII, a byte for each character. */
  ascii: 5,
  /** Any other text, two bytes for each unit, so that lone surrogates stay what they are. */
  utf16: 6,
  bytes: 7,
  array: 8,
  /** An object: the names of its fields, then their values. Both ends number these names. */
  newShape: 9,
  /** An object: the number of its names, then the values of its fields. */
  knownShape: 10,
  /** As `newShape`, but not numbered: there are enough numbers. */
  loose: 11,
} as const;
