/** Raised whenever the same block would be encoded to other bytes; what another version sent to ClickHouse is made anew. */
export const ENCODER_VERSION = 1

/** In the journal, of a batch that was taken back: of no encoder, so that nobody finishes it and whoever comes next deletes it. */
export const WITHDRAWN = 0
