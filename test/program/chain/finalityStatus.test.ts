// Goal: what is told of a chain's finality follows the operator's rule and what is stored, also where
// certificates count and nothing can check them any more.
// Method: a stored certificate on a real ledger, and the chain's finality opened by each rule.
import { expect, onTestFinished, test } from 'vitest'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import type { FinalityChoice } from '#ingest/finality/rules/chosenRule.ts'
import { ProvedFinality, type StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import { ChainFinality } from '#program/finality/ChainFinality.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { keepProof } from '#store/finality/finalityProofs.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import { decode, openChainStore } from '../../store/support/chainStore.ts'
import { certificateOf, grown, hashAt, TEST_EPOCH_BLOCKS } from '../../support/finalityChain.ts'
import { rangeOf, tempoProfile } from '../../transform/ranges.ts'

const branch = grown([], 9)
const proof: StoredProof = {
  certificate: readCertificate(Buffer.from(certificateOf(branch, 7), 'hex')),
  block: { number: 7, hash: hashAt(branch, 7), parentHash: hashAt(branch, 6) },
  ...{ endpoint: 'a.example', checkedAtMs: 1_791_900_007_000 },
}

/** A chain whose block 7 is final, with its certificate, and whose head is 9; no key is known. */
async function opened(choice: FinalityChoice): Promise<ChainFinality> {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const { postgres, chainId, schema, fence } = store
  await keepProof({ postgres, chainId, fence }, proof, TEST_EPOCH_BLOCKS)
  await store.head.append(decode({ ...rangeOf(branch), endpoint: 'test' }, 'roots', tempoProfile))
  await store.head.finalize(7)
  const state = new ChainState({ chainId, schema, startBlock: 0, postgres, bell: new CommitBell() })
  await state.refresh()
  state.sawHead(9)
  const network = {
    certificates: async () => ({ given: [], without: [] }),
    headerOf: async () => null,
  }
  return new ChainFinality({
    reached: { choice, proved: new ProvedFinality(proof), keys: null, network },
    ...{ state, postgres, lease: () => null, runtime: systemRuntime(), log: silentLogger },
  })
}

test.each(['both', 'certificate'] as const)(
  'without a key finality by %s stands, and says so',
  async (choice) => {
    const finality = await opened(choice)
    expect(finality.status).toMatchObject({ rule: 'proved', height: 7, certificateHeight: 7, identity: null })
    expect(finality.note).toBeNull()
    expect(finality.problems).toEqual([
      { kind: 'finality_key_unknown', message: expect.stringMatching(/^no key is known, .* at block 7/) },
    ])
  },
)

test('a certificate of before is none of what endpoints alone decide', async () => {
  const finality = await opened('endpoints')
  expect(finality.status).toMatchObject({ rule: 'agreed', height: 7, certificateHeight: null })
  expect([finality.rule, finality.problems]).toEqual(['agreed', []])
  expect(finality.note).toMatch(/endpoints alone decide .* a certificate of block 7 was checked here$/)
})
