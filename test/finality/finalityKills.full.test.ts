// Goal: wherever the program is killed between storing a certificate and raising finality, nothing is
// final without one, and the next start goes on (issue 45).
// Method: a process kills itself at named places while it follows a network with certificates; the next
// one goes on with newer ones. What is stored is looked at between them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { grown } from '../support/finalityChain.ts'
import type { CertifiedTask } from './support/certifiedIndexer.ts'
import { HostileNetwork, keyA } from './support/hostileNetwork.ts'

/** Each is reached by what the one before it left to do. */
const places = [
  'finality.keep.before',
  'finality.keep.after',
  'finality.taken',
  'head.finalize.before',
  'head.finalize.after',
] as const

const chain = grown([], 20)
const FIRST = 10

async function run(task: CertifiedTask): Promise<string> {
  const entry = fileURLToPath(new URL('./support/certifiedIndexer.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, JSON.stringify(task)], { stdio: 'inherit' })
  const [code, signal] = await once(child, 'exit')
  return signal ?? `${code}`
}

test('a kill at each place between proof and finality leaves no final block without its certificate', async () => {
  const network = await HostileNetwork.open({ branch: chain })
  const task = (failpoint: string, until: number): CertifiedTask => ({
    ...{ access: network.access, urls: network.nodes.map(({ url }) => url), genesisHash: network.genesis },
    ...{ rule: 'certificate', key: keyA, startBlock: 0, failpoint, until },
  })
  const expectProved = async () => {
    const finalized = await network.finalized()
    expect(finalized < 0 || (await network.proofAtOrAbove(finalized)) >= finalized).toBe(true)
  }
  for (const [index, place] of places.entries()) {
    const certified = FIRST + index
    network.show(chain.slice(0, certified + 3), 5)
    network.certify(chain, certified)
    expect([place, await run(task(`${place}:1`, certified))]).toEqual([place, 'SIGKILL'])
    await expectProved()
  }
  const last = FIRST + places.length
  network.show(chain, 5)
  network.certify(chain, last)
  expect(await run(task('', last))).toBe('0')
  expect(await network.finalized()).toBe(last)
  await expectProved()
}, 240_000)
