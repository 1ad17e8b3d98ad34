import { describe, expect, it } from 'vitest'
import { digestOf } from '#test/support/signedFinality.ts'
import { chosenRule } from './chosenRule.ts'
import { type FinalityRule, isGranted } from './finalityRule.ts'
import { type FinalityProof, ProvedFinality } from './ProvedFinality.ts'

/** A proof of a block with a hash of this byte. */
function proofOf(number: number, byte = number, view = number + 1): FinalityProof {
  const block = { number, hash: digestOf(byte), parentHash: digestOf(byte - 1) }
  const signature = new Uint8Array(48)
  const proposal = { epoch: Math.floor(number / 10), view, parentView: view - 1, digest: block.hash }
  return { certificate: { ...proposal, vote: signature, seed: signature }, block, endpoint: 'one' }
}

describe('finality by certificates', () => {
  it('is the newest certified block', () => {
    const rule = new ProvedFinality()
    expect([rule.granted, rule.number]).toEqual([null, -1])
    expect(rule.take(proofOf(12))).toBe('moved')
    expect(rule.granted).toEqual({ finalized: 12, finalizedBy: proofOf(12).block, endpoint: 'one' })
    expect(rule.take(proofOf(15))).toBe('moved')
    expect([rule.name, rule.number]).toEqual(['proved', 15])
  })

  it('begins at what was stored, and older certificates change nothing', () => {
    const rule = new ProvedFinality(proofOf(12))
    expect(rule.take(proofOf(12))).toBe('known')
    expect(rule.take(proofOf(11))).toBe('known')
    expect([rule.number, rule.held]).toEqual([12, null])
  })

  it('takes the same block certified in a later view', () => {
    const rule = new ProvedFinality(proofOf(19))
    expect(rule.take(proofOf(19, 19, 25))).toBe('known')
    expect(rule.held).toBeNull()
  })

  it.each([
    ['height', proofOf(12, 99, 40)],
    ['view', proofOf(14, 99, 13)],
    ['branch below', proofOf(13, 99, 40)],
    ['branch above', proofOf(11, 99, 40)],
  ])('stops at two blocks of one %s, and keeps both', (_what, other) => {
    const rule = new ProvedFinality(proofOf(12))
    expect(rule.take(other)).toBe('equivocated')
    expect(rule.equivocation).toEqual([proofOf(12), other])
    expect(rule.held).toContain(other.block.hash)
    expect(rule.take(proofOf(16))).toBe('equivocated')
    expect([rule.number, rule.granted]).toEqual([-1, null])
  })

  it('ends where two contradict each other, and neither counts', () => {
    const rule = new ProvedFinality(proofOf(10))
    expect([rule.take(proofOf(12)), rule.granted?.finalized]).toEqual(['moved', 12])
    expect(rule.take(proofOf(12, 17))).toBe('equivocated')
    expect([rule.number, rule.granted?.finalized]).toEqual([10, 10])
  })

  it('is of any block of the same view in another epoch', () => {
    const rule = new ProvedFinality(proofOf(12))
    expect(rule.take(proofOf(22, 22, 13))).toBe('moved')
  })
})

describe('finality by either', () => {
  class Words implements FinalityRule {
    readonly name = 'agreed'
    readonly held = 'held'
    number = -1
    concluded = 0
    doubted: string[] = []
    get granted() {
      return { finalized: this.number, finalizedBy: proofOf(this.number).block, endpoint: 'two' }
    }
    conclude() {
      this.concluded++
    }
    doubt(endpoint: string) {
      this.doubted.push(endpoint)
      this.number = -1
    }
  }
  const nobody = new Set<string>()

  it('is what endpoints agree on until there is a certificate, and nothing after it', () => {
    const words = new Words()
    const proved = new ProvedFinality()
    const rule = chosenRule('both', words, proved)
    words.number = 12
    rule.conclude(nobody, 0)
    expect([rule.name, rule.number, rule.held, words.concluded]).toEqual(['agreed', 12, 'held', 1])
    proved.take(proofOf(14))
    rule.conclude(nobody, 0)
    expect([rule.name, rule.number, rule.held, words.concluded]).toEqual(['proved', 14, null, 1])
    expect(rule.granted?.finalizedBy).toEqual(proofOf(14).block)
  })

  it('is one of both where that is chosen', () => {
    const [words, proved] = [new Words(), new ProvedFinality()]
    expect(chosenRule('endpoints', words, proved)).toBe(words)
    expect(chosenRule('certificate', words, proved)).toBe(proved)
  })

  it('is by certificates alone from the first one on, also where more was granted before', () => {
    const words = new Words()
    const proved = new ProvedFinality()
    const rule = chosenRule('both', words, proved)
    words.number = 15
    expect([rule.name, rule.number]).toEqual(['agreed', 15])
    proved.take(proofOf(12))
    rule.doubt('two')
    expect([rule.name, rule.number, words.doubted]).toEqual(['proved', 12, ['two']])
  })
})

describe('a word of finality that was taken before', () => {
  const agreed = (finalized: number): FinalityRule => ({
    ...{ name: 'agreed', number: finalized, held: null, conclude: () => {}, doubt: () => {} },
    granted: { finalized, finalizedBy: proofOf(finalized).block, endpoint: 'one' },
  })

  it('ends with the first certificate, and one of certificates where two contradict each other', () => {
    const proved = new ProvedFinality()
    const rule = chosenRule('both', agreed(15), proved)
    expect(isGranted(rule, { finalized: 15 })).toBe(true)
    proved.take(proofOf(12))
    expect(isGranted(rule, { finalized: 15 })).toBe(false)
    // Nor where it names no more than a certificate does: that one has to link to what is held.
    expect(isGranted(rule, { finalized: 11 })).toBe(false)
    expect(isGranted(rule, { finalized: 12, isProved: true })).toBe(true)
    proved.take(proofOf(14))
    expect(isGranted(rule, { finalized: 12, isProved: true })).toBe(true)
    proved.take(proofOf(14, 99))
    expect(isGranted(rule, { finalized: 14, isProved: true })).toBe(false)
    expect(isGranted(rule, { finalized: 12, isProved: true })).toBe(true)
  })

  it('ends where it is doubted', () => {
    expect(isGranted({ ...agreed(15), granted: null }, { finalized: 15 })).toBe(false)
  })
})
