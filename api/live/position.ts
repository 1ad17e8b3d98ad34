/**
 * Places in a live stream, as clients hold them in Last-Event-ID. On Postgres a place is a commit
 * of the chain's log and a block of it, so that what was taken back meanwhile can be named; on
 * ClickHouse, which never takes back, a block.
 */

/** `complete`: nothing of this commit is left. Not known of an id that comes from a client. */
export interface CommitPosition {
  readonly seq: number
  readonly block: number
  readonly complete: boolean
}

export const formatCommitPosition = ({ seq, block }: CommitPosition): string => `p.${seq}.${block}`
export const formatBlockPosition = (block: number): string => `c.${block}`

/** Null for what is no place of ours. */
export function parseCommitPosition(id: string): CommitPosition | null {
  const parts = /^p\.(\d{1,15})\.(-1|\d{1,15})$/.exec(id)
  return parts ? { seq: Number(parts[1]), block: Number(parts[2]), complete: false } : null
}

export function parseBlockPosition(id: string): number | null {
  const parts = /^c\.(-1|\d{1,15})$/.exec(id)
  return parts ? Number(parts[1]) : null
}
