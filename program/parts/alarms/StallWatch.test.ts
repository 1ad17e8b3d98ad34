import { expect, test } from 'vitest'
import { StallWatch } from './StallWatch.ts'

/** A chain with a block every `blockSeconds`, seen once a second. */
function openChain(blockSeconds: number) {
  const watch = new StallWatch()
  let [nowMs, tip] = [0, 100]
  const run = (seconds: number) => {
    for (let second = 1; second <= seconds; second++) {
      nowMs += 1_000
      if (second % blockSeconds === 0) tip++
      expect(watch.look({ tip, ahead: tip }, nowMs)).toBeNull()
    }
  }
  const stand = (seconds: number, ahead = tip) => {
    nowMs += seconds * 1_000
    return watch.look({ tip, ahead }, nowMs)
  }
  run(blockSeconds * 30)
  return { run, stand, tip: () => tip }
}

test('endpoints that are ahead for a minute say that the head stands still', () => {
  const chain = openChain(1)
  expect(chain.stand(59, 2 ** 40)).toBeNull()
  expect(chain.stand(1, 2 ** 40)).toMatch(/^block 130 has been the newest for 60 s, while .* 1099511627776$/)
  chain.run(3)
})

test('before the first block it says that none has come', () => {
  const watch = new StallWatch()
  expect(watch.look({ tip: -1, ahead: 1_999 }, 1_000)).toBeNull()
  expect(watch.look({ tip: -1, ahead: 1_999 }, 61_000)).toBe(
    'no block has come for 60 s, while an endpoint has told of block 1999',
  )
})

test('without a newer block anywhere the clock says so, later', () => {
  const chain = openChain(1)
  expect(chain.stand(299)).toBeNull()
  expect(chain.stand(1)).toContain('no endpoint tells of another')
  chain.run(3)
})

test('a chain with slow blocks is given the time of several', () => {
  const chain = openChain(60)
  expect(chain.stand(590, 1_000)).toBeNull()
  expect(chain.stand(30, 1_000)).not.toBeNull()
  const silent = openChain(60)
  expect(silent.stand(1_190)).toBeNull()
  expect(silent.stand(30)).not.toBeNull()
})

test('a block that comes, or is taken back, begins the time again', () => {
  const watch = new StallWatch()
  expect(watch.look({ tip: -1, ahead: -1 }, 0)).toBeNull()
  expect(watch.look({ tip: 9, ahead: 9 }, 250_000)).toBeNull()
  expect(watch.look({ tip: 7, ahead: 9 }, 300_000)).toBeNull()
  expect(watch.look({ tip: 7, ahead: 9 }, 359_000)).toBeNull()
})
