// Goal: whatever clock tells the moment, ids of a kind sort by it.
// Method: moments around a whole millisecond, one of which has a digit more than those before.
import { expect, test } from 'vitest'
import { newTimedId } from './identifiers.ts'

test('ids sort by their moment, parts of a millisecond or not', () => {
  const ids = [999, 999.999, 1_000, 1_000.5, 9_999_999_999_999.75, 1e13].map((ms) => newTimedId('out', ms))
  for (const id of ids) expect(id).toMatch(/^out_\d{15}_\w{24}$/)
  const moments = ids.map((id) => id.slice(0, 19))
  expect(moments).toEqual(moments.toSorted())
})
