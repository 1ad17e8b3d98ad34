import { expect, it } from 'vitest'
import { finalityVectors } from '#test/support/signedFinality.ts'
import { readFinalization } from './finalizations.ts'

const { finalization } = finalityVectors('mainnet').boundary

it('the certificate of an answer is read, whatever else is in it', () => {
  expect(readFinalization({ certificate: finalization })).toBe(finalization)
  expect(readFinalization({ epoch: 1, height: 5, certificate: finalization })).toBe(finalization)
  expect(readFinalization({ epoch: 'x', block: { header: 7 }, certificate: finalization })).toBe(finalization)
})

it.each([
  ['null', null],
  ['a text', finalization],
  ['a list', [finalization]],
  ['no certificate', { epoch: 1514, view: 21_600 }],
  ['a number', { certificate: 1 }],
  ['an empty one', { certificate: '' }],
  ['`0x` in front of it', { certificate: `0x${finalization}` }],
  ['capitals', { certificate: finalization.toUpperCase() }],
  ['half a byte', { certificate: finalization.slice(1) }],
  ['a line behind it', { certificate: `${finalization}\n` }],
  ['far more than one', { certificate: finalization.repeat(2) }],
])('an answer with %s has none', (_what, answer) => {
  expect(readFinalization(answer)).toBeNull()
})
