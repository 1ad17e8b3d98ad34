import type { Failpoint } from './runtime.ts'

/**
 * Every place where a crash of the ingest stage is worth trying. A name says lane, step and side:
 * `append.before` is visited with the batch in memory and nothing written, `append.after` with the
 * transaction committed and nothing told.
 */
export const ingestFailpoints = [
  'head.tipRead',
  'head.fetched',
  'head.decoded',
  'head.append.before',
  'head.append.after',
  'head.finalize.before',
  'head.finalize.after',
  'head.forkFound',
  'head.revert.after',
  'head.seal.before',
  'head.seal.after',
  'history.fetched',
  'history.decoded',
  'history.append.before',
  'history.append.after',
  'history.attach.before',
  'history.attach.after',
  'lease.acquired',
  'lease.renewed',
] as const

export type IngestFailpoint = (typeof ingestFailpoints)[number]

/** A failpoint function that accepts listed names only. */
export type VisitFailpoint = (name: IngestFailpoint) => void

/** Narrows the runtime's failpoint to the names of this list. */
export const visitListed = (failpoint: Failpoint): VisitFailpoint => failpoint
