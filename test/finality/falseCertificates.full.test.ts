// Goal: no certificate but a true one moves finality, whatever all endpoints say together (issue 45,
// situations 1 to 5).
// Method: a network that one secret signs, its nodes over HTTP, and the program's own chain on real
// Postgres with the network's key configured. That a look happened shows in what the nodes were asked.
import { describe, expect, test } from 'vitest'
import {
  bytesOfHex,
  finalizeMessage,
  hexOf,
  readCertificate,
} from '#ingest/finality/certificate/certificate.ts'
import { certificateOf, forkedAbove, grown, hashAt, networkB } from '../support/finalityChain.ts'
import { falseSpellings } from './support/falseSpellings.ts'
import { HostileNetwork } from './support/hostileNetwork.ts'

const chain = grown([], 26)
/** Blocks of one epoch. */
const [FIRST, NEXT] = [12, 18]
const forged = forkedAbove(chain, FIRST)

/** Nodes told the truth until a block was final by certificate. */
async function certifiedOnce(nodes = 2) {
  const network = await HostileNetwork.open({ branch: chain.slice(0, NEXT + 1), nodes })
  network.show(chain.slice(0, NEXT + 1), 5)
  network.certify(chain, FIRST)
  await network.start()
  await network.proved(chain, FIRST)
  return network
}

describe('with every endpoint lying together', () => {
  test('another key’s certificate for a forged head makes nothing final, and is named (1)', async () => {
    const network = await certifiedOnce()
    network.show(forged)
    network.certify(forged, NEXT, { group: networkB })
    await network.holds(forged, NEXT)
    await network.standsAt(FIRST)
    const names = network.nodes.map(({ url }) => new URL(url).host)
    const { lastRefused } = network.program.chain.finality
    expect(lastRefused).toMatchObject({ part: 'vote', problem: expect.stringMatching(names.join('.*, ')) })
    network.later(11 * 60_000)
    await network.held(/no certificate above block 12 for 11 minutes/)
    expect(await network.proofs()).toEqual([FIRST])
  }, 180_000)

  test('and from the first block on, where a certificate alone decides (1)', async () => {
    const network = await HostileNetwork.open({ branch: forged })
    network.show(forged)
    network.certify(forged, NEXT, { group: networkB })
    await network.start({ rule: 'certificate' })
    await network.standsAt(-1)
    expect(await network.proofs()).toEqual([])
    network.show(chain, 5)
    network.certify(chain, NEXT)
    await network.proved(chain, NEXT)
  }, 180_000)

  test('no part of a certificate may be another one, and no spelling but one is read (2)', async () => {
    const network = await certifiedOnce(8)
    const spellings = falseSpellings(certificateOf(chain, NEXT))
    for (let first = 0; first < spellings.length; first += network.nodes.length) {
      const told = spellings.slice(first, first + network.nodes.length)
      for (const [index, [, text]] of told.entries())
        Object.assign(network.nodes[index] ?? {}, { latest: text })
      // Nodes that were false a few times are asked each minute.
      await network.start()
      await network.looked()
      expect([told.map(([what]) => what), await network.finalized()]).toEqual([expect.anything(), FIRST])
    }
    expect(await network.proofs()).toEqual([FIRST])
    network.certify(chain, NEXT)
    await network.proved(chain, NEXT)
  }, 300_000)

  test('a true certificate of an older block, sent as the newest, moves nothing and takes nothing back (3)', async () => {
    const network = await certifiedOnce()
    network.show(forged)
    network.certify(chain, FIRST - 2)
    await network.standsAt(FIRST)
    expect(await network.hashOf(FIRST)).toBe(hashAt(chain, FIRST))
  }, 180_000)

  test('a true certificate of another block proves that block and not the one that is shown (3)', async () => {
    const network = await certifiedOnce()
    network.show(forged)
    network.all((node) => {
      node.latest = certificateOf(chain, NEXT)
    })
    await network.standsAt(FIRST)
    network.all((node) => {
      node.branch = chain
    })
    await network.proved(chain, NEXT)
  }, 180_000)

  test('a right signature over a block’s hash under another epoch proves nothing (4)', async () => {
    const network = await certifiedOnce()
    for (const epoch of [0, 2, 3]) {
      network.certify(chain, NEXT, { epoch })
      await network.start()
      await network.standsAt(FIRST)
    }
    network.certify(chain, NEXT)
    await network.proved(chain, NEXT)
  }, 180_000)
})

describe('two valid certificates that contradict each other', () => {
  test.each([
    ['of one height', NEXT, NEXT + 40],
    ['of one view', NEXT + 1, NEXT + 1],
  ])(
    '%s end finality, and both are kept (5)',
    async (_what, height, view) => {
      const network = await certifiedOnce()
      const [one, other] = network.nodes
      if (!one || !other) throw new Error('two nodes were started')
      one.latest = certificateOf(chain, NEXT)
      Object.assign(other, { latest: certificateOf(forged, height, { view }), others: forged })
      await network.held(/contradict/)
      network.show(chain)
      network.certify(chain, NEXT + 4)
      await network.headsSeen()
      expect(await network.finalized()).toBe(FIRST)
      expect(await network.proofs()).toEqual([FIRST, NEXT, height])
      await network.start()
      await network.held(/contradict/)
      await network.headsSeen()
      expect(await network.finalized()).toBe(FIRST)
    },
    180_000,
  )
})

test('the spellings that are refused differ from the true one in every part', () => {
  const text = certificateOf(chain, NEXT)
  const spellings = falseSpellings(text)
  expect(new Set(spellings.map(([, spelled]) => spelled)).size).toBe(spellings.length)
  expect(spellings.every(([, spelled]) => spelled !== text)).toBe(true)
  expect(hexOf(finalizeMessage(readCertificate(bytesOfHex(`0x${text}`))))).toContain(
    hashAt(chain, NEXT).slice(2),
  )
})
