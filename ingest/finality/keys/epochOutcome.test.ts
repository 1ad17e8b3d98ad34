import { describe, expect, it } from 'vitest'
import { finalityVectors, outcomeExtraData, signingNetwork } from '#test/support/signedFinality.ts'
import { parseBlock } from '../../read/block.ts'
import { bytesOfHex, hexOf } from '../certificate/certificate.ts'
import { readEpochOutcome } from './epochOutcome.ts'

const { key } = signingNetwork(`0x${'03'.repeat(32)}`)

describe('the outcome in the last block of an epoch', () => {
  it('is read from a block of Tempo’s mainnet', () => {
    const { boundary, mainnet_identity } = finalityVectors('mainnet')
    const { extraData } = parseBlock(boundary.block)
    expect(readEpochOutcome(extraData)).toEqual({
      epoch: 1515,
      key: `0x${mainnet_identity}`,
      isNextFullDkg: false,
    })
  })

  it('may be followed by bytes that say more', () => {
    const outcome = { epoch: 8, key, isNextFullDkg: true }
    const extraData = outcomeExtraData(outcome)
    expect(readEpochOutcome(extraData)).toEqual(outcome)
    expect(readEpochOutcome(`${extraData}0102`)).toEqual(outcome)
  })

  it('is none at any other length', () => {
    const bytes = bytesOfHex(outcomeExtraData({ epoch: 8, key }))
    for (const length of bytes.keys()) expect(readEpochOutcome(hexOf(bytes.subarray(0, length)))).toBeNull()
  })

  it('is none without a key, with an invalid one, or a flag that is neither', () => {
    const extraData = outcomeExtraData({ epoch: 8, key })
    const infinity = hexOf(Uint8Array.of(0xc0, ...new Array<number>(95).fill(0)))
    expect(readEpochOutcome(outcomeExtraData({ epoch: 8, key: infinity }))).toBeNull()
    expect(readEpochOutcome(`${extraData.slice(0, -2)}02` as typeof extraData)).toBeNull()
    const [head = ''] = extraData.split(key.slice(2))
    const withoutKey = `${head.slice(0, -2)}00${extraData.split(key.slice(2)).at(-1)}` as typeof extraData
    expect(readEpochOutcome(withoutKey)).toBeNull()
  })
})
