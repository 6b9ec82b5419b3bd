/**
 * Folds into a database server. Commits wait for each batch of a fold, and a server takes its time for
 * each however small. So they are fewer, and as large as they may be: values of 4 MiB must still fit
 * in.
 */
export const SERVER_SLICES = { sliceRowsMax: 4_000, sliceBytesMax: 512 * 1024 } as const;
