/**
 * Folds into a database server, where each batch costs a round trip however small it is. So they are
 * fewer, and as large as values of 4 MiB beside them allow. Commits overlap with them.
 */
export const SERVER_FOLD_LIMITS = {
  sliceRowsMax: 4_000,
  sliceBytesMax: 512 * 1024,
  overlaps: true,
} as const;
