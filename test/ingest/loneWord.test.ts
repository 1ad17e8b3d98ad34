// Goal: what the only endpoint said of the chain's end by mistake is over soon after it is taken
// back (L21, L22).
// Method: as in headLies.test.ts, with one node.
import { expect, test } from 'vitest'
import { FINAL, HEAD, headOf, lyingHeads } from './support/lyingHeads.ts'

test.each([
  ['above the chain', 60],
  ['where the chain has another block by then', 10],
])(
  'a final block ahead, told once by the only endpoint, holds finality back for half a minute: %s (L22)',
  async (_, ahead) => {
    const { chain, source, sink, told, steps } = lyingHeads(['liar'])
    await steps(2)
    told.set('liar', headOf(HEAD + ahead, false))
    await steps(1)
    expect((await source.head()).finalized).toBe(HEAD + ahead)
    told.clear()
    chain.extend(10)
    chain.finalized = 205
    await steps(20)
    expect(await sink.finalized()).toBe(FINAL)
    await steps(20)
    expect(await sink.finalized()).toBe(205)
  },
)

test('blocks that a false head made wanted are not told to be pruned once it is gone (L21)', async () => {
  const { source, told, steps, clock } = lyingHeads(['liar'])
  await steps(2)
  told.set('liar', headOf(HEAD + 400, true))
  clock.ms += 1_000
  expect((await source.head()).finalized).toBe(HEAD + 400)
  told.clear()
  const first = HEAD + 1
  await expect(source.fetch({ from: first, to: first })).rejects.toMatchObject({
    code: 'source_unavailable',
    remedy: 'retry',
  })
})
