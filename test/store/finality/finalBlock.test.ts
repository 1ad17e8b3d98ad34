// Goal: readers are told `proved` of what a certificate proves as we hold it (I12), whatever other
// certificates of such a height are stored.
// Method: a branch of a network that a test signs for, in a real ledger, with proofs of that branch and
// of another one.
import { describe, expect, onTestFinished, test } from 'vitest'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import { keepProof } from '#store/finality/finalityProofs.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import type { Checks } from '#transform/profile.ts'
import {
  type Branch,
  certificateOf,
  forkedAbove,
  grown,
  hashAt,
  TEST_EPOCH_BLOCKS,
} from '../../support/finalityChain.ts'
import { rangeOf, tempoProfile } from '../../transform/ranges.ts'
import { decode, openChainStore } from '../support/chainStore.ts'

const ours = grown([], 10)
const theirs = forkedAbove(ours, 3)
const FINAL = 5

/** A chain that holds our branch up to 9, final up to 5. */
async function opened({ checks = 'roots' as Checks } = {}) {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const { postgres, chainId, schema, fence } = store
  await store.head.append(decode({ ...rangeOf(ours), endpoint: 'test' }, checks, tempoProfile))
  await store.head.finalize(FINAL)
  const state = new ChainState({ chainId, schema, startBlock: 0, postgres, bell: new CommitBell() })
  const certify = async (
    branch: Branch,
    number: number,
    proposal: Parameters<typeof certificateOf>[2] = {},
  ) => {
    const certificate = readCertificate(Buffer.from(certificateOf(branch, number, proposal), 'hex'))
    const block = { number, hash: hashAt(branch, number), parentHash: hashAt(branch, number - 1) }
    const proof = { certificate, block, endpoint: 'a.example', checkedAtMs: 0 }
    await keepProof({ postgres, chainId, fence }, proof, TEST_EPOCH_BLOCKS)
  }
  const told = async () => {
    await state.refresh()
    return state.finality
  }
  return { store, state, certify, told }
}

describe('what is final is proved', () => {
  test.each([FINAL, FINAL + 1, 9])('by a certificate of our block %i', async (number) => {
    const { state, certify, told } = await opened()
    expect([await told(), state.finalizedHash]).toEqual(['agreed', null])
    await certify(ours, number)
    expect([await told(), state.finalizedHash]).toEqual(['proved', hashAt(ours, FINAL)])
  })

  test.each([FINAL, 9])('not by one of another block at height %i', async (number) => {
    const { certify, told } = await opened()
    await certify(theirs, number)
    expect(await told()).toBe('agreed')
  })

  test('not by one below it, nor by one above what is held', async () => {
    const { certify, told } = await opened()
    await certify(ours, FINAL - 1)
    expect(await told()).toBe('agreed')
    await certify(grown(ours, 3), 12)
    expect(await told()).toBe('agreed')
  })

  test.each([
    ['height', theirs, 7, {}],
    ['view', theirs, 8, { view: 8 }],
  ] as const)('not by one that another of its %s contradicts', async (_what, branch, number, proposal) => {
    const { certify, told } = await opened()
    await certify(ours, 7)
    expect(await told()).toBe('proved')
    await certify(branch, number, proposal)
    expect(await told()).toBe('agreed')
  })

  test('not where no header was recomputed (VERIFY=links)', async () => {
    const { certify, told } = await opened({ checks: 'links' })
    await certify(ours, FINAL)
    expect(await told()).toBe('agreed')
  })

  test('not where the header of a block between was not', async () => {
    const { store, certify, told } = await opened()
    await certify(ours, FINAL + 2)
    const { pool } = store.postgres
    await pool.query(`UPDATE ${store.schema}.block_proofs SET header = 2 WHERE block_num = ${FINAL + 1}`)
    expect(await told()).toBe('agreed')
  })
})
