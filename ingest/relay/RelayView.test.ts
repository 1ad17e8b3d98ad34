import { expect, test } from 'vitest'
import { ManualClock } from '#test/ingest/support/clock.ts'
import { grantedTag, type TagWord } from './RelayHeads.ts'
import { RelayView } from './RelayView.ts'

const shared = (height: number) => ({ height, aloneBy: null })
const alone = (height: number, aloneBy = 'a') => ({ height, aloneBy })
const nobody = () => false
const everybody = () => true

function openView() {
  const clock = new ManualClock()
  const view = new RelayView(clock)
  return { clock, view }
}

test('the newest block does not go back, until nobody has had it for a minute', async () => {
  const { clock, view } = openView()
  view.settle(shared(9), nobody)
  view.settle(shared(7), nobody)
  expect(view.shown).toBe(9)
  await clock.advance(59_000)
  view.settle(shared(7), nobody)
  expect(view.shown).toBe(9)
  await clock.advance(2_000)
  view.settle(shared(7), nobody)
  expect(view.shown).toBe(7)
})

test('tags renew no time of the head', async () => {
  const { clock, view } = openView()
  view.settle(shared(9), nobody)
  for (let second = 0; second < 63; second++) {
    await clock.advance(1_000)
    view.settleTag('finalized', { height: 20, isAlone: false, said: 20 })
    view.settle(shared(7), nobody)
  }
  expect(view.shown).toBe(7)
})

test('one endpoint’s word is taken back at once where it is doubted, or far above all others', () => {
  const { view } = openView()
  view.settle(shared(9), nobody)
  view.settle(alone(12), nobody)
  view.settle(shared(9), (name) => name === 'b')
  expect(view.shown).toBe(12)
  view.settle(shared(9), (name) => name === 'a')
  expect(view.shown).toBe(9)
  view.settle(alone(5_000), nobody)
  view.settle(shared(9), nobody)
  expect(view.shown).toBe(9)
})

test('what others have reached since is not one endpoint’s word any more', () => {
  const { view } = openView()
  view.settle(alone(12), nobody)
  view.settle(shared(12), nobody)
  view.settle(alone(12), nobody)
  view.settle(shared(9), everybody)
  expect(view.shown).toBe(12)
})

test('a lower head that replaced a block takes the view back', () => {
  const { view } = openView()
  const head = (number: number, branch: string) => ({
    number,
    hash: `0x${branch.repeat(64)}` as never,
    parentHash: `0x${'0'.repeat(64)}` as never,
  })
  for (const number of [7, 8, 9]) {
    view.heard(head(number, `${number}`))
    view.settle(shared(number), nobody)
  }
  view.heard(head(8, 'b'))
  view.settle(shared(8), nobody)
  expect(view.shown).toBe(8)
})

test('a tag falls when nobody has said as much for a minute, one endpoint’s word at once', async () => {
  const { clock, view } = openView()
  const say = (height: number, isAlone = false) =>
    view.settleTag('finalized', { height, isAlone, said: height })
  expect(view.settleTag('safe', { height: -1, isAlone: false, said: -1 })).toBeNull()
  expect(say(9, true)).toBe(9)
  expect(say(5)).toBe(5)
  expect(say(8)).toBe(8)
  expect(say(5)).toBe(8)
  await clock.advance(61_000)
  expect(say(5)).toBe(5)
})

test.each<[TagWord[], number, number, number]>([
  [[7, 5], -1, -1, 5],
  [[7, 5, 2 ** 40], -1, -1, 7],
  [[7, 5], 6, -1, 6],
  [[7, 5], 9, -1, 7],
  // The other named what it cannot know.
  [[7, 'beyond'], -1, 4, 7],
  [['beyond', null], 3, -1, -1],
  // The other knows no such tag.
  [[7, null], 5, 4, 5],
  // The other is away.
  [[7, undefined], -1, -1, 7],
  [[7, undefined], 5, -1, 5],
  [[7, undefined], 3, 6, 6],
  [[7], -1, -1, 7],
])('endpoints that say %j, with %i final and %i told, grant %i', (words, finalized, before, height) => {
  expect(grantedTag(words, finalized, before).height).toBe(height)
})
