import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { plainBloom } from '#test/support/plainTrie.ts'
import { Bloom } from './Bloom.ts'

const bytes = (size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)
const log = fc.record({ address: bytes(20), topics: fc.array(bytes(32), { maxLength: 4 }) })

describe('Bloom', () => {
  it('has the bits of every address and topic, whether added as logs or joined from blooms', () => {
    fc.assert(
      fc.property(fc.array(log), (logs) => {
        const expected = plainBloom(logs.flatMap(({ address, topics }) => [address, ...topics]))
        const whole = new Bloom()
        whole.addLogs(logs)
        const joined = new Bloom()
        for (const single of logs) {
          const part = new Bloom()
          part.addLogs([single])
          joined.addBloom(new DataView(part.bytes.buffer), part.bytes.byteOffset)
        }
        return whole.toHex() === expected && joined.toHex() === expected
      }),
    )
  })

  it('stays right after more values than it remembers', () => {
    const hash = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`
    const topics = Array.from({ length: 12_000 }, (_, index) => hash(index))
    new Bloom().addLogs([{ address: hash(1).slice(0, 42), topics }])
    const bloom = new Bloom()
    bloom.addLogs([{ address: `0x${'1'.repeat(40)}`, topics: [hash(5)] }])
    expect(bloom.toHex()).toBe(plainBloom([`0x${'1'.repeat(40)}`, hash(5)]))
  })
})
