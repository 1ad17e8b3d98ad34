// Goal: on a chain whose forks are known its header rule goes on past the last known height: what no
// longer hashes by it is a mark since a fork that this version does not know, and a lie before.
// Method: a real block of Tempo that is told as one far above, so that its header does not hash.
import { describe, expect, test } from 'vitest'
import { RefutedError } from '#ingest/verify/RefutedError.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { newestKnownFork } from '#transform/forks.ts'
import { archiveProfile, type ChainProfile } from '#transform/profile.ts'
import { readRealBlock } from '../support/realBlocks.ts'
import { rangeOf } from './ranges.ts'

const tempo: ChainProfile = { chainId: 4217, kind: 'tempo', headerRule: 'tempo', checks: 'roots' }
const real = readRealBlock('tempo-mainnet', '17708868')
const number = 50_000_000
/** After the newest known fork. */
const seconds = newestKnownFork(4217) + 1_000_000

/** The block as that of another height and time, in all its parts. */
function toldAt(height: number, timestampSeconds: number) {
  const { number: own, timestamp } = Object(real.block)
  const text = JSON.stringify(real)
    .replaceAll(`Number":"${own}"`, `Number":"0x${height.toString(16)}"`)
    .replaceAll(`"number":"${own}"`, `"number":"0x${height.toString(16)}"`)
    .replaceAll(`imestamp":"${timestamp}"`, `imestamp":"0x${timestampSeconds.toString(16)}"`)
  return rangeOf([JSON.parse(text)])
}

const proofsOf = (profile: Partial<ChainProfile>, height = number, timestampSeconds = seconds) => {
  const { bytes, range } = toldAt(height, timestampSeconds)
  return decodeRange({ ...tempo, ...profile }, bytes, range).batch.proofs
}

describe('a header that does not hash on a chain whose forks are known', () => {
  test('is refuted as long as every fork is known', () => {
    expect(() => proofsOf({})).toThrow(RefutedError)
    expect(() => proofsOf({ unknownForkFrom: seconds + 1 })).toThrow(RefutedError)
  })

  test('is a mark from the time of an unknown fork on, and its other parts are proved as before', () => {
    const marked = { provedBlocks: 0, unprovableBlocks: 1, unprovableTxs: 0 }
    expect(proofsOf({ unknownForkFrom: seconds })).toMatchObject(marked)
    const { bytes, range } = toldAt(number, seconds)
    const text = Buffer.from(bytes).toString()
    const root = Object(real.block).receiptsRoot
    const lie = Buffer.from(text.replaceAll(root, `0x${'ab'.repeat(32)}`))
    const profile = { ...tempo, unknownForkFrom: seconds }
    expect(() => decodeRange(profile, new Uint8Array(lie), range)).toThrow(RefutedError)
  })

  test('stays a lie up to the last known height, whatever fork is told', () => {
    expect(() => proofsOf({ unknownForkFrom: 0 }, 17_708_869)).toThrow(RefutedError)
  })

  test('is a mark where the newest blocks hash in no known way, and what does hash is proved', () => {
    expect(proofsOf({ headerRule: 'unknown' })).toMatchObject({ provedBlocks: 0, unprovableBlocks: 1 })
    const { bytes, range } = rangeOf([real])
    const { batch } = decodeRange({ ...tempo, headerRule: 'unknown' }, bytes, range)
    expect(batch.proofs).toMatchObject({ provedBlocks: 1, unprovableBlocks: 0 })
    const elsewhere = decodeRange({ ...tempo, chainId: 7, headerRule: 'unknown' }, bytes, range)
    expect(elsewhere.batch.proofs).toMatchObject({ provedBlocks: 0, unprovableBlocks: 1 })
  })

  test('may be in our own archive since the newest known fork, whatever is told now', () => {
    expect(archiveProfile(tempo)).toEqual({ ...tempo, unknownForkFrom: newestKnownFork(4217) })
    const unknown = { ...tempo, chainId: 7 }
    expect(archiveProfile(unknown)).toEqual(unknown)
  })
})
