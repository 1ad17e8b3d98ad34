// Goal: what a running program stored proves each final block to a reader who has the key and no node,
// and proves nothing with any header between left out (issue 45, situation 10).
// Method: a network that one secret signs is followed to a certificate; what the store gives for blocks
// below it is checked by the offline check, whole and with parts missing.
import { expect, test } from 'vitest'
import { initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { readBlockFinality } from '#store/finality/blockFinality.ts'
import { certifiedProblem } from '#store/proofs/checkCertifiedBlock.ts'
import { schemaOf } from '#store/sql.ts'
import { grown, hashAt, networkB, TEST_EPOCH_BLOCKS } from '../support/finalityChain.ts'
import { HostileNetwork, keyA } from './support/hostileNetwork.ts'

const chain = grown([], 22)
const CERTIFIED = 18

test('each final block is proved offline, and none with a header left out (10)', async () => {
  const network = await HostileNetwork.open({ branch: chain })
  network.show(chain, 5)
  network.certify(chain, CERTIFIED)
  await network.start()
  await network.proved(chain, CERTIFIED)
  const { chainId } = network.access
  const [ours, theirs] = [keyA, { ...keyA, identity: networkB.key }].map((key) =>
    initialKeys(chainId, key, TEST_EPOCH_BLOCKS),
  )
  if (!ours || !theirs) throw new Error('both keys are configured')
  for (const number of [CERTIFIED - 4, CERTIFIED - 1, CERTIFIED]) {
    const block = { number, hash: hashAt(chain, number) }
    const place = { chainId, schema: schemaOf(chainId) }
    const { rule, proof } = await readBlockFinality(network.postgres.pool, place, block, true)
    expect([rule, proof?.headers.length]).toEqual(['proved', CERTIFIED - number + 1])
    if (!proof) throw new Error('there is a proof')
    expect(certifiedProblem(proof, block, ours)).toBeNull()
    expect(certifiedProblem(proof, block, theirs)).toMatchObject({ part: 'certificate' })
    for (const left of proof.headers.keys()) {
      const headers = proof.headers.filter((_header, index) => index !== left)
      expect(certifiedProblem({ ...proof, headers }, block, ours), `without ${left}`).not.toBeNull()
    }
  }
}, 180_000)
