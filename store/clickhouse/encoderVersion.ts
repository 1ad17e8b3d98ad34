/** Raised whenever the same block would be encoded to other bytes; what another version sent to ClickHouse is made anew. */
export const ENCODER_VERSION = 1
