/**
 * Raised whenever the same block would be encoded to other bytes; what another version sent to
 * ClickHouse is made again.
 */
export const ENCODER_VERSION = 3

/**
 * Versions whose written rows stay. Those of 1 differ in bounds above 2^63 - 1, which
 * `maintain/mendBounds.ts` has made again; those of 2 have NULL in columns that came with 3.
 */
export const KEPT_ENCODERS: readonly number[] = [1, 2, ENCODER_VERSION]

/**
 * Encoder version of a withdrawn batch in the journal: none, so that no writer finishes the batch
 * and the next one deletes it.
 */
export const WITHDRAWN = 0
