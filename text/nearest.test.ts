import { expect, it } from 'vitest'
import { nearestOf } from './nearest.ts'

const known = ['block_num', 'block_timestamp', 'tx_hash', 'hash', 'address', 'gas_used', 'num']

it.each([
  ['block_number', 'block_num'],
  ['blocknum', 'block_num'],
  ['gasUsed', 'gas_used'],
  ['adress', 'address'],
  ['block_time', 'block_timestamp'],
  ['nun', 'num'],
  ['something_else', undefined],
])('%s is meant as %s', (name, meant) => {
  expect(nearestOf(name, known)).toBe(meant)
})
