/** Limits of one user query, whatever its text. */

/** Rows of one answer at most, and unless fewer are asked for. */
export const ROWS_MAX = 10_000
/** Rows of an export: an answer of more than `ROWS_MAX` rows, which is only ever streamed. */
export const EXPORT_ROWS_MAX = 1_000_000
/**
 * Bytes of one answer on the wire from the engine; beyond it a page of results is of no use to a
 * reader.
 */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** The same of an export, which no part of the program holds whole. */
const EXPORT_BYTES_MAX = 1024 * 1024 * 1024
/**
 * Bytes of one value. A driver that makes a string of more than 512 MB throws where nobody can
 * catch it.
 */
export const VALUE_BYTES_MAX = 1024 * 1024
/** Time a query may run, and an export, whose reader takes part of it. */
export const QUERY_MS_MAX = 30_000
export const EXPORT_MS_MAX = 300_000
/** Time an export may take for its next rows: one that gives nothing keeps its slot from others. */
export const EXPORT_SILENT_MS_MAX = 30_000
/** Time an engine has past the asked limit to end by itself, before the connection is cut. */
export const GRACE_MS = 500

/** Whether an answer of so many rows is an export. */
export const isExport = (limit: number): boolean => limit > ROWS_MAX

/** Bytes an answer of so many rows may have on the wire from the engine. */
export const answerBytesMax = (limit: number): number =>
  isExport(limit) ? EXPORT_BYTES_MAX : ANSWER_BYTES_MAX
