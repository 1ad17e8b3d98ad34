/**
 * Entry of a worker thread: one range's bytes in, its encoded batch out, both transferred instead
 * of copied.
 */
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { RawRange } from '#ingest/source.ts'
import type { EncodedBatch } from '../batch.ts'
import { BatchEncoder } from '../encode/BatchEncoder.ts'
import type { ChainProfile } from '../profile.ts'
import { type DecodeFailure, describeFailure } from './decodeFailure.ts'
import { type DecodedRange, decodeRaw } from './decodeRange.ts'

export interface DecodeTask {
  readonly profile: ChainProfile
  readonly raw: Omit<RawRange, 'endpoint'>
}

export type DecodeResult =
  | { readonly ok: true; readonly batch: EncodedBatch }
  | { readonly ok: false; readonly failure: DecodeFailure }

/** Kept over the worker's life, so that its memory is mapped once. */
const encoder = new BatchEncoder()

export function decode({ profile, raw }: DecodeTask): unknown {
  try {
    return transferring(decodeRaw(profile, raw, encoder))
  } catch (error) {
    return { ok: false, failure: describeFailure(error) } satisfies DecodeResult
  } finally {
    // At once, not when the collector finds it: megabytes of answers that are done with made it
    // look at everything.
    raw.bytes.buffer.transfer(0)
  }
}

function transferring({ batch, transfer }: DecodedRange): unknown {
  const result: DecodeResult = { ok: true, batch }
  return move({ [valueSymbol]: result, [transferableSymbol]: transfer })
}
