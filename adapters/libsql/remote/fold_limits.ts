/**
 * Folds into a database server, which takes its time for each batch however small. So they are fewer,
 * and as large as they may be: values of 4 MiB must still fit in. And no commit waits for their way.
 */
export const SERVER_FOLD_LIMITS = {
  sliceRowsMax: 4_000,
  sliceBytesMax: 512 * 1024,
  overlaps: true,
} as const;
