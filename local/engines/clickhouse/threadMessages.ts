/** Messages between the query server and its threads. */

/** The format whose blocks begin with a head each, which the thread leaves to the first. */
export const headedFormat = 'RowBinaryWithNamesAndTypes'

/** One query for a thread. */
export interface ThreadJob {
  /** Our own statements that prepare the session: USE, SET ROLE, SET. */
  readonly setup: string
  readonly sql: string
  readonly queryId: string
  readonly format: string
  /** Refuse everything but one reading statement. */
  readonly readOnly: boolean
  /** The answer may be sent block by block. */
  readonly stream: boolean
}

/**
 * The server's message to a thread. After a message that does not end the job the thread waits for `pull`;
 * `close` ends it.
 */
export type ThreadRequest =
  | { readonly type: 'run'; readonly job: ThreadJob }
  | { readonly type: 'pull' }
  | { readonly type: 'cancel' }
  | { readonly type: 'close' }

/** A thread's message to the server: chunks, and then `end` or `error`. */
export type ThreadEvent =
  | { readonly type: 'chunk'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly number: number; readonly message: string }
