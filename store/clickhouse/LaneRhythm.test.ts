import { beforeEach, describe, expect, it } from 'vitest'
import { LaneRhythm } from './LaneRhythm.ts'

let now = 0
let isAsked = false

const clock = { monotonic: () => now }
const takeAsked = () => {
  const taken = isAsked
  isAsked = false
  return taken
}

/** A lane that wrote just now and found nothing more, long after the start. */
const keptUp = () => {
  const rhythm = new LaneRhythm({ clock, takeAsked })
  now = 600_000
  rhythm.flushed()
  rhythm.looks()
  return rhythm
}

beforeEach(() => {
  now = 0
  isAsked = false
})

describe('LaneRhythm', () => {
  it('hurries for readers, and for two minutes after the last question', () => {
    const rhythm = keptUp()
    isAsked = true
    expect(rhythm.flushMs).toBe(2_000)
    now += 119_000
    expect(rhythm.flushMs).toBe(2_000)
    now += 1_000
    expect(rhythm.flushMs).toBe(20_000)
  })

  it('counts its start as a question', () => {
    expect(new LaneRhythm({ clock, takeAsked }).flushMs).toBe(2_000)
  })

  it('hurries always where nobody tells of questions', () => {
    const rhythm = new LaneRhythm({ clock })
    now = 600_000
    expect(rhythm.flushMs).toBe(2_000)
  })

  it('looks at the ledger only when what is new has waited', () => {
    const rhythm = keptUp()
    rhythm.committed('head', 1)
    now += 19_999
    expect(rhythm.isDue).toBe(false)
    now += 1
    expect(rhythm.isDue).toBe(true)
  })

  it('lets no more than forty blocks wait, so that the audit keeps its distance', () => {
    const rhythm = keptUp()
    now += 2_000
    rhythm.committed('head', 39)
    expect(rhythm.isDue).toBe(false)
    rhythm.committed('head', 1)
    expect(rhythm.isDue).toBe(true)
  })

  it('looks at once after history, a failure and its own insert', () => {
    const rhythm = keptUp()
    rhythm.committed('history', 1)
    expect(rhythm.isDue).toBe(true)
    rhythm.looks()
    rhythm.fellBehind()
    expect(rhythm.isDue).toBe(true)
    rhythm.looks()
    rhythm.flushed()
    expect(rhythm.isDue).toBe(true)
  })
})
