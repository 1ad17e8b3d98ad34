// Goal: finality follows the chain's keys from epoch to epoch by what the old key signed, however far
// the program is behind, and by nothing else (issue 45, situations 6 and 7).
// Method: a network with epochs of ten blocks whose key changes at the fourth, its nodes over HTTP, and
// the program's own chain on real Postgres.
import { describe, expect, test } from 'vitest'
import { type Branch, grown, keysChangingAt, networkA, networkB } from '../support/finalityChain.ts'
import { noCertificate } from '../support/finalityNode.ts'
import { HostileNetwork } from './support/hostileNetwork.ts'

/** The second key signs from this epoch on: its first block, and the last one before. */
const CHANGED = 3
const [BOUNDARY, BEHIND] = [29, 35]
const [EARLY, LAST] = [12, 37]

const announced = grown([], LAST + 1, { schedule: keysChangingAt(CHANGED) })
const unannounced = grown([], LAST + 1, { schedule: keysChangingAt(CHANGED, false) })

/** A network that was followed up to a block of the second epoch. */
async function followedTo(chain: Branch) {
  const network = await HostileNetwork.open({ branch: chain.slice(0, EARLY + 3) })
  network.show(chain.slice(0, EARLY + 3), 5)
  network.certify(chain, EARLY)
  await network.start()
  await network.proved(chain, EARLY)
  return network
}

/** The nodes go on to the end of the chain; the last blocks of epochs are certified, but for `without`. */
function goOn(network: HostileNetwork, chain: Branch, without: readonly number[] = []): void {
  for (const boundary of [9, 19, BOUNDARY]) if (!without.includes(boundary)) network.certify(chain, boundary)
  network.show(chain, 5)
}

describe('a change of the key', () => {
  test('that was announced is followed through the last block under the old key (6)', async () => {
    const network = await followedTo(announced)
    goOn(network, announced)
    network.certify(announced, BEHIND, { group: networkB })
    await network.proved(announced, BEHIND)
    expect(network.program.chain.finality).toMatchObject({ epoch: CHANGED, identity: networkB.key })
  }, 180_000)

  test('is followed where the last block was certified in a later view (6)', async () => {
    const network = await followedTo(announced)
    goOn(network, announced, [BOUNDARY])
    network.certify(announced, BOUNDARY, { view: BOUNDARY + 30 })
    network.certify(announced, BEHIND, { group: networkB })
    await network.proved(announced, BEHIND)
  }, 180_000)

  test('that nobody announced is refused, and finality waits for a person (6)', async () => {
    const network = await followedTo(unannounced)
    goOn(network, unannounced)
    await network.proved(unannounced, BOUNDARY)
    network.certify(unannounced, BEHIND, { group: networkB })
    await network.held(/key/)
    await network.standsAt(BOUNDARY)
    await network.start()
    await network.held(/key/)
    await network.standsAt(BOUNDARY)
    await network.start({ key: { identity: networkB.key, fromEpoch: CHANGED } })
    // The pin of the first epoch is not configured any more, and nothing before it needs one.
    await network.proved(unannounced, BEHIND)
  }, 240_000)

  test('ends the old key: what it goes on to sign proves nothing (6)', async () => {
    const network = await followedTo(announced)
    goOn(network, announced)
    await network.proved(announced, BOUNDARY)
    network.certify(announced, BEHIND, { group: networkA })
    await network.standsAt(BOUNDARY)
    network.certify(announced, BEHIND, { group: networkB })
    await network.proved(announced, BEHIND)
  }, 180_000)

  test('without a certificate of the last block waits there until the key is configured (6)', async () => {
    const network = await followedTo(announced)
    network.all((node) => {
      node.certificates.set(BOUNDARY, noCertificate)
    })
    goOn(network, announced, [BOUNDARY])
    network.certify(announced, BOUNDARY - 1)
    await network.proved(announced, BOUNDARY - 1)
    network.certify(announced, BEHIND, { group: networkB })
    await network.held(/key/)
    await network.standsAt(BOUNDARY - 1)
    await network.start({ key: { identity: networkB.key, fromEpoch: CHANGED } })
    await network.proved(announced, BEHIND)
  }, 240_000)
})

describe('a program that was off', () => {
  test('for three epochs walks over the change to the newest certificate (7)', async () => {
    const network = await followedTo(announced)
    await network.stop()
    const long = grown(announced, 15, { schedule: keysChangingAt(CHANGED) })
    for (const boundary of [19, BOUNDARY]) network.certify(long, boundary)
    for (const boundary of [39, 49]) network.certify(long, boundary, { group: networkB })
    network.certify(long, 50, { group: networkB })
    network.show(long, 5)
    await network.start()
    await network.proved(long, 50)
  }, 180_000)

  test('starts with a pin newer than the history it is to hold (7)', async () => {
    const network = await HostileNetwork.open({ branch: announced })
    network.show(announced, 5)
    network.certify(announced, BEHIND, { group: networkB })
    await network.start({ key: { identity: networkB.key, fromEpoch: CHANGED } })
    await network.proved(announced, BEHIND)
  }, 180_000)

  test('starts in the middle of an epoch with a pin older than the key (7)', async () => {
    const network = await HostileNetwork.open({ branch: announced })
    goOn(network, announced)
    network.certify(announced, BEHIND, { group: networkB })
    await network.start({ startBlock: 33 })
    await network.proved(announced, BEHIND)
  }, 180_000)
})
