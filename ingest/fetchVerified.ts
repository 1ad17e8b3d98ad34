import { MillraceError } from '../errors.ts'
import type { VisitFailpoint } from './failpoints.ts'
import type { BlockRange } from './range.ts'
import { assertContinuous } from './reorg.ts'
import type { Batch, Decode } from './sink.ts'
import type { RawRange, Source } from './source.ts'

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

/** Answers refuted in a row before the caller has to wait: near the head a node often lacks receipts for some ms. */
const REFUTED_MAX = 3

/**
 * Fetches and decodes `range` or a prefix of it. An answer that fails verification is reported against its endpoint and
 * asked for again elsewhere. Decoding touches nothing but the answer's bytes, so every expected error of it is about them.
 * @throws the verification's error after REFUTED_MAX refuted answers; SourceError when no endpoint answers.
 */
export async function fetchVerified<B extends Batch>(
  fetcher: Fetcher<B>,
  range: BlockRange,
  signal?: AbortSignal,
): Promise<Fetched<B>> {
  const { source, decode, failpoint, lane } = fetcher
  const refuted = new Set<string>()
  for (let attempt = 1; ; attempt++) {
    const raw = await source.fetch(range, { ...(signal && { signal }), not: refuted })
    failpoint(`${lane}.fetched`)
    try {
      const batch = await decode(raw, signal)
      assertContinuous(null, batch.refs)
      failpoint(`${lane}.decoded`)
      return { batch, endpoint: raw.endpoint }
    } catch (error) {
      if (!(error instanceof MillraceError) || error.remedy !== 'retry') throw error
      source.reportRefuted(raw.endpoint)
      refuted.add(raw.endpoint)
      if (attempt >= REFUTED_MAX) throw error
    }
  }
}
