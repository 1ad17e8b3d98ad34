// Goal: where no certificate is served two endpoints decide under the rule's own name; once one was
// checked nobody gets that back by hiding them; and the branch under a certificate is the chain, whatever
// endpoints show (issue 45, situations 8 and 9).
// Method: as falseCertificates.full.test.ts.
import { describe, expect, test } from 'vitest'
import { certificateOf, forkedAbove, grown, hashAt, networkB } from '../support/finalityChain.ts'
import { methodMissing, noCertificate, notReady } from '../support/finalityNode.ts'
import { HostileNetwork } from './support/hostileNetwork.ts'

const chain = grown([], 26)
/** Blocks of one epoch. */
const [FIRST, NEXT] = [12, 18]
const other = forkedAbove(chain, FIRST + 2)

/** Both nodes show the chain up to the next block, and call this height final. */
async function opened(finalized: number) {
  const network = await HostileNetwork.open({ branch: chain })
  network.show(chain.slice(0, NEXT + 1), finalized)
  return network
}

describe('endpoints without certificates', () => {
  test('decide by agreeing, under that name (8)', async () => {
    const network = await opened(FIRST)
    await network.start()
    await network.agreed(FIRST)
    network.show(chain, NEXT)
    await network.agreed(NEXT)
    expect(await network.proofs()).toEqual([])
  }, 180_000)

  test('decide still where one of them has certificates and lies (8)', async () => {
    const network = await opened(FIRST)
    const [liar] = network.nodes
    liar?.certify(other, NEXT, { group: networkB })
    await network.start()
    await network.agreed(FIRST)
    network.show(chain, NEXT)
    await network.agreed(NEXT)
    expect(await network.proofs()).toEqual([])
  }, 180_000)

  test.each([
    ['say that the method is gone', methodMissing],
    ['have none', noCertificate],
    ['are not ready', notReady],
  ])(
    'that once had them and now %s decide nothing (8)',
    async (_what, hidden) => {
      const network = await opened(5)
      network.certify(chain, FIRST)
      await network.start()
      await network.proved(chain, FIRST)
      network.all((node) => {
        node.latest = hidden
        node.certificates.clear()
      })
      network.show(other)
      await network.holds(other, NEXT)
      await network.standsAt(FIRST)
      await network.start()
      await network.standsAt(FIRST)
      network.show(chain)
      network.certify(chain, NEXT)
      await network.proved(chain, NEXT)
    },
    240_000,
  )
})

describe('a certificate of a branch that endpoints do not show', () => {
  test('brings that branch back, and the rows above the fork go (9)', async () => {
    const network = await opened(5)
    network.certify(chain, FIRST)
    await network.start()
    await network.proved(chain, FIRST)
    network.show(other)
    await network.holds(other, NEXT)
    const [honest, liar] = network.nodes
    if (!honest || !liar) throw new Error('two nodes were started')
    honest.branch = chain
    honest.latest = certificateOf(chain, NEXT)
    await network.proved(chain, NEXT)
    for (let number = FIRST; number <= NEXT; number++)
      expect(await network.hashOf(number)).toBe(hashAt(chain, number))
    expect(liar.branch).toBe(other)
  }, 180_000)

  test('finalizes nothing that does not lead to its block (9)', async () => {
    const network = await opened(5)
    network.certify(chain, FIRST)
    await network.start()
    await network.proved(chain, FIRST)
    network.show(other)
    await network.holds(other, NEXT)
    // The header of the certified block is given, and none of the blocks below it.
    network.all((node) => Object.assign(node, { latest: certificateOf(chain, NEXT), others: chain }))
    await network.standsAt(FIRST)
    network.show(chain)
    await network.proved(chain, NEXT)
  }, 180_000)
})

describe('the first certificate, of a block below what words made final', () => {
  test('is no reason to take any of that back, nor to stop, and a newer one decides', async () => {
    const network = await opened(NEXT)
    await network.start()
    await network.agreed(NEXT)
    network.certify(chain, FIRST)
    await network.moved(FIRST)
    network.show(other)
    const problem = () => network.program.chain.headStatus.problem
    await expect.poll(problem, { timeout: 60_000 }).toMatch(/no certificate is as new/)
    expect(network.program.chain.headStatus.state).toBe('waiting')
    expect([await network.finalized(), await network.hashOf(NEXT)]).toEqual([NEXT, hashAt(chain, NEXT)])
    network.show(chain)
    network.certify(chain, 19)
    network.certify(chain, 24)
    await network.proved(chain, 24)
    expect(network.program.chain.headStatus.state).toBe('running')
  }, 240_000)
})
