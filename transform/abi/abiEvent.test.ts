import { parseAbiItem, toEventSelector, toEventSignature } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import { events } from '../events/index.ts'
import { abiEvent } from './abiEvent.ts'
import { parseSignature } from './signature.ts'

describe('an event of an ABI', () => {
  it.each([
    'event Transfer(address indexed from, address indexed to, uint256 amount)',
    'event Routed(uint id, (address token, (int24 low, bytes data)[2][] hops)[] paths, bytes32 indexed key)',
    'event Unnamed(address indexed, bool, (uint8, string name) pair)',
    'event Nothing()',
  ])('%s is what viem reads of it', (text) => {
    const read = parseAbiItem(text)
    if (read.type !== 'event') throw new TypeError('an event')
    const inputs = read.inputs.map((input) => ({ ...input, indexed: input.indexed ?? false }))
    expect(abiEvent(parseSignature(text))).toEqual({ ...read, inputs })
  })

  it('of every event the program knows has the signature and topic that viem makes of it', () => {
    for (const { abi, signature, topic0 } of events)
      expect([toEventSignature(abi), toEventSelector(abi)]).toEqual([signature, topic0])
  })
})
