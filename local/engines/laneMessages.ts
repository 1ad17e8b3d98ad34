/** What the query server and its lanes (worker threads) say to each other. */

/** One query for a lane. */
export interface LaneJob {
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
 * What the server tells a lane. After a message that does not end the job the lane waits for
 * `pull`; `close` ends it.
 */
export type LaneRequest =
  | { readonly type: 'run'; readonly job: LaneJob }
  | { readonly type: 'pull' }
  | { readonly type: 'cancel' }
  | { readonly type: 'close' }

/** What a lane tells the server: chunks, and then `end` or `error`. */
export type LaneEvent =
  | { readonly type: 'chunk'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly number: number; readonly message: string }
