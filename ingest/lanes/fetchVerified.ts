import { MillraceError } from '#errors.ts'
import { DecodeWorkerError } from '../decodeWorkerError.ts'
import type { VisitFailpoint } from '../failpoints.ts'
import type { BlockRange } from '../range.ts'
import type { Batch, Decode } from '../sink.ts'
import type { RawRange, Source } from '../source.ts'
import { assertContinuous } from './reorg.ts'

/** What turns a range into a checked batch, for both lanes. */
export interface Fetcher<B extends Batch> {
  readonly source: Source
  readonly decode: Decode<B, RawRange>
  readonly failpoint: VisitFailpoint
  /** Prefix of the failpoints visited: which lane this is. */
  readonly lane: 'head' | 'history'
}

/** A batch whose blocks were verified and link to each other, and the endpoint that gave them. */
export interface Fetched<B extends Batch> {
  readonly batch: B
  readonly endpoint: string
}

/** Failures in a row before the caller has to wait: near the head a node often lacks receipts for some ms. */
const FAILURES_MAX = 3

/**
 * Fetches and decodes `range` or a prefix of it. An answer that fails verification is reported against its endpoint and
 * asked for again elsewhere. A worker that is lost says nothing about the endpoint, but may have died of the answer, so
 * another one is asked first then too.
 * @param not endpoints that are asked last
 * @throws the last error after FAILURES_MAX failures; SourceError when no endpoint answers.
 */
export async function fetchVerified<B extends Batch>(
  fetcher: Fetcher<B>,
  range: BlockRange,
  signal?: AbortSignal,
  not: ReadonlySet<string> = new Set(),
): Promise<Fetched<B>> {
  const { source, decode, failpoint, lane } = fetcher
  const asked = new Set(not)
  for (let attempt = 1; ; attempt++) {
    const raw = await source.fetch(range, { ...(signal && { signal }), not: asked })
    failpoint(`${lane}.fetched`)
    try {
      const batch = await decode(raw, signal)
      assertContinuous(null, batch.refs)
      failpoint(`${lane}.decoded`)
      return { batch, endpoint: raw.endpoint }
    } catch (error) {
      if (!(error instanceof MillraceError) || error.remedy !== 'retry') throw error
      if (!(error instanceof DecodeWorkerError)) source.reportRefuted(raw.endpoint)
      asked.add(raw.endpoint)
      if (attempt >= FAILURES_MAX) throw error
    }
  }
}
