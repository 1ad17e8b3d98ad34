/** What one user query may cost, whatever its text. */

/** Rows of one answer at most, and unless fewer are asked for. */
export const ROWS_MAX = 10_000
/**
 * Bytes of one answer on the wire from the engine; beyond it a page of results is of no use to a
 * reader.
 */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/**
 * Bytes of one value. A driver that makes a string of more than 512 MB throws where nobody can
 * catch it.
 */
export const VALUE_BYTES_MAX = 1024 * 1024
/** Time an engine has past the asked limit to end by itself, before the connection is cut. */
export const GRACE_MS = 500
