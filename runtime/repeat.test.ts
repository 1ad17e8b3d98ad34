import { describe, expect, it } from 'vitest'
import { repeat } from './repeat.ts'

/** A clock whose sleeps end at once, and are told. */
function sleeper() {
  const slept: number[] = []
  const sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    slept.push(ms)
  }
  return { slept, clock: { sleep } }
}

describe('repeat', () => {
  it('takes turns until one is the last, with the pause that each asks for', async () => {
    const { slept, clock } = sleeper()
    const pauses = [5, 0, 7]
    let turns = 0
    await repeat({ clock, signal: new AbortController().signal, firstMs: 3 }, () => {
      turns++
      return pauses.shift() ?? 'ended'
    })
    expect({ turns, slept }).toEqual({ turns: 4, slept: [3, 5, 7] })
  })

  it('takes no turn once it is aborted, before the first one or within a pause', async () => {
    const { clock } = sleeper()
    let turns = 0
    await repeat({ clock, signal: AbortSignal.abort() }, () => {
      turns++
      return 0
    })
    expect(turns).toBe(0)
    const stop = new AbortController()
    const sleep = () => new Promise<void>((_, reject) => stop.signal.addEventListener('abort', reject))
    const repeated = repeat({ clock: { sleep }, signal: stop.signal }, () => {
      turns++
      return 1
    })
    await new Promise(setImmediate)
    stop.abort()
    await repeated
    expect(turns).toBe(1)
  })

  it('counts failures in a row and pauses as it is told', async () => {
    const { slept, clock } = sleeper()
    const outcomes = [false, false, true, false, true]
    const told: number[] = []
    const failed = (_error: unknown, failures: number) => {
      told.push(failures)
      return 10 * failures
    }
    await repeat({ clock, signal: new AbortController().signal, failed }, () => {
      if (!outcomes.shift()) throw new Error('this turn fails')
      return outcomes.length > 0 ? 1 : 'ended'
    })
    expect({ told, slept }).toEqual({ told: [1, 2, 1], slept: [10, 20, 1, 10] })
  })

  it('writes a failure into the log and goes on after the pause', async () => {
    const { slept, clock } = sleeper()
    const lines: unknown[] = []
    const log = { warn: (...line: unknown[]) => lines.push(line) }
    const failed = { log, ms: 30, message: 'the turn waits', about: { chainId: 7 } }
    const turns = [() => Promise.reject(new Error('this turn fails')), () => 'ended' as const]
    await repeat({ clock, signal: new AbortController().signal, failed }, () => turns.shift()?.() ?? 'ended')
    expect(lines).toEqual([[{ chainId: 7, problem: 'this turn fails', retryMs: 30 }, 'the turn waits']])
    expect(slept).toEqual([30])
  })

  it('ends with a failure that nobody is told of, or that is thrown on', async () => {
    const { clock } = sleeper()
    const { signal } = new AbortController()
    const turn = () => Promise.reject(new Error('this turn fails'))
    await expect(repeat({ clock, signal }, turn)).rejects.toThrow('this turn fails')
    const failed = () => {
      throw new Error('for good')
    }
    await expect(repeat({ clock, signal, failed }, turn)).rejects.toThrow('for good')
  })

  it('takes an error that comes with the abort for the abort', async () => {
    const { clock } = sleeper()
    const stop = new AbortController()
    const told: unknown[] = []
    const failed = (error: unknown) => {
      told.push(error)
      return 1
    }
    await repeat({ clock, signal: stop.signal, failed }, async () => {
      stop.abort()
      throw new Error('was interrupted')
    })
    expect(told).toEqual([])
  })
})
