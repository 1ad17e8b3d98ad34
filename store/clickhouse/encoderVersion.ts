/**
 * Raised whenever the same block would be encoded to other bytes; what another version sent to
 * ClickHouse is made again.
 */
export const ENCODER_VERSION = 1

/**
 * Encoder version of a withdrawn batch in the journal: none, so that no writer finishes the batch
 * and the next one deletes it.
 */
export const WITHDRAWN = 0
