/**
 * Places in a live stream, as clients hold them in Last-Event-ID: the chain, and on Postgres a commit
 * of its log and a block of it, so that what was taken back meanwhile can be named; on ClickHouse,
 * which never takes back, a block.
 */

/** `complete`: nothing of this commit is left. Not known of an id that comes from a client. */
export interface CommitPosition {
  readonly seq: number
  readonly block: number
  readonly complete: boolean
}

export const formatCommitPosition = (chainId: number, { seq, block }: CommitPosition): string =>
  `p.${chainId}.${seq}.${block}`
export const formatBlockPosition = (chainId: number, block: number): string => `c.${chainId}.${block}`

/** Null for what is no place of this chain. */
export function parseCommitPosition(chainId: number, id: string): CommitPosition | null {
  const parts = /^p\.(\d{1,16})\.(\d{1,15})\.(-1|\d{1,15})$/.exec(id)
  if (!parts || Number(parts[1]) !== chainId) return null
  return { seq: Number(parts[2]), block: Number(parts[3]), complete: false }
}

export function parseBlockPosition(chainId: number, id: string): number | null {
  const parts = /^c\.(\d{1,16})\.(-1|\d{1,15})$/.exec(id)
  return parts && Number(parts[1]) === chainId ? Number(parts[2]) : null
}
