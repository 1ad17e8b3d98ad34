import { custom } from 'viem'
import { describe, expect, test } from 'vitest'
import { noFee } from '#money/fees.ts'
import { type Look, outcomeOn } from './payChain.ts'

const VALID_BEFORE = 1_000
const at = { validBeforeSeconds: VALID_BEFORE }
/** An endpoint whose newest final block has this number and time; the look finds what it has mined. */
function endpointAt(final: { readonly number: number; readonly seconds: number }, mined: unknown = null) {
  return custom({
    request: async ({ method }: { method: string }) =>
      method === 'look'
        ? mined
        : { number: `0x${final.number.toString(16)}`, timestamp: `0x${final.seconds.toString(16)}` },
  })
}
const silent = custom({
  request: async () => {
    throw new Error('no answer')
  },
})
const look: Look = async (ask) => Object(await ask('look', [])).found ?? null
const past = { number: 20, seconds: VALID_BEFORE + 31 }
const settled = { kind: 'settled', txHash: '0x01', fee: noFee } as const
const reverted = { kind: 'failed', fee: { fee: 3n, feeCurrency: '0x20' }, blockNumber: 20 } as const
const outcomeAt = (...endpoints: Parameters<typeof outcomeOn>[0]['endpoints']) =>
  outcomeOn({ chainId: 1, endpoints }, at, look)

describe('a payment that no endpoint has', () => {
  test('has failed where all of them are past its time', async () => {
    expect(await outcomeAt(endpointAt(past), endpointAt(past))).toEqual({ kind: 'failed', fee: noFee })
  })
  test.each([
    ['one is silent', silent],
    ['one is behind', endpointAt({ number: 9, seconds: VALID_BEFORE })],
    [
      'one is past its time by less than receipts may be late',
      endpointAt({ number: 9, seconds: VALID_BEFORE + 30 }),
    ],
  ])('is unknown where %s', async (_, other) => {
    expect(await outcomeAt(endpointAt(past), other)).toEqual({ kind: 'unknown' })
  })
  test('is unknown where nobody is asked', async () => {
    expect(await outcomeAt()).toEqual({ kind: 'unknown' })
  })
})

describe('a payment that was mined', () => {
  test('is settled where one endpoint has it', async () => {
    expect(await outcomeAt(silent, endpointAt(past, { found: settled }))).toEqual(settled)
  })
  test('has failed where it moved nothing, in a block that is final to all', async () => {
    const final = endpointAt(past, { found: reverted })
    expect(await outcomeAt(final, final)).toEqual({ kind: 'failed', fee: { fee: 3n, feeCurrency: '0x20' } })
  })
  test('is unknown where the block in which it moved nothing can be taken back', async () => {
    const newest = endpointAt({ number: 19, seconds: VALID_BEFORE }, { found: reverted })
    expect(await outcomeAt(newest, endpointAt(past, { found: reverted }))).toEqual({ kind: 'unknown' })
  })
})
