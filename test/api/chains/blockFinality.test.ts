// Goal: a reader who asks for a block's finality gets what proves it without trust in us, the first
// thing that is missing where it does not, and in each answer's headers by what blocks are final.
// Method: two blocks of a devnet in a real store, certificates of a network with one key, and the
// offline check on what was served.
import { beforeAll, expect, test } from 'vitest'
import { anonymous } from '#http/request/access.ts'
import { readCertificate } from '#ingest/finality/certificate/certificate.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { hash } from '#primitives.ts'
import { verifyFinality } from '#program/commands/prove/verifyFinality.ts'
import { keepProof } from '#store/finality/finalityProofs.ts'
import { openPostgres } from '#store/postgres.ts'
import { quoteIdentifier } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { decode } from '../../store/support/chainStore.ts'
import { amsterdamHeader } from '../../support/amsterdam.ts'
import { signingNetwork } from '../../support/signedFinality.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { door, node, plainNode } from '../support/rpcApi.ts'

const headers = [amsterdamHeader('devnet191prague'), amsterdamHeader('devnet192amsterdam')] as const
const EPOCH_BLOCKS = 100
const network = signingNetwork(`0x${'05'.repeat(32)}`)
const keys: EpochKeys = {
  epochBlocks: EPOCH_BLOCKS,
  keys: [{ fromEpoch: 0, key: network.key, origin: 'pinned' }],
  unknownFrom: [],
}

let api: ChainApi
let check: ResponseCheck
beforeAll(async () => {
  api = await openChainApi({
    ...{ kind: 'evm', headFrom: 191, startBlock: 191 },
    server: {
      access: {
        identify: () => anonymous,
        admit: (_caller, _request, _rule, units) => {
          return { kind: 'admitted', headers: { 'x-units': `${units}` } }
        },
      },
      freshness: {
        read: () => ({
          indexedBlock: 192,
          finalizedBlock: 192,
          headBlock: 192,
          finality: api.state.finality,
        }),
        waitForBlock: async () => {},
      },
    },
  })
  const blocks = headers.map((block) => ({ block, receipts: [] }))
  await api.append([decode({ ...rangeOf(blocks), endpoint: 'test' }, 'roots', ethereumProfile)])
  check = await responseCheck(api)
  return () => api.close()
})

async function certify(number: number, digest: string, parentHash: string): Promise<void> {
  const proposal = { epoch: Math.floor(number / EPOCH_BLOCKS), view: 9, parentView: 8, digest: hash(digest) }
  const place = { postgres: api.store.postgres, chainId: api.chainId, fence: api.store.fence }
  const certificate = readCertificate(network.certificate(proposal))
  const block = { number, hash: hash(digest), parentHash: hash(parentHash) }
  await keepProof(place, { certificate, block, endpoint: 'a.example', checkedAtMs: 0 }, EPOCH_BLOCKS)
  await api.state.refresh()
}

const forget = () =>
  api.store.postgres.pool.query(`DELETE FROM ${quoteIdentifier(api.store.schema)}.finality_proofs`)

async function finalityAt(block: string | number) {
  const answer = await api.get(`/v1/blocks/${block}?include=finality`)
  expect(answer.status).toBe(200)
  expect(check('/v1/blocks/{block}', answer)).toEqual([])
  const trust = { chainId: api.chainId, keysOf: () => keys }
  return {
    said: answer.body.finality,
    rule: answer.headers.get('svc-finality'),
    problem: verifyFinality(JSON.stringify(answer.body), trust).problem,
  }
}

test('a block has a proof once a certificate of it or of one above is held, and says why before', async () => {
  expect(await finalityAt(191)).toMatchObject({
    said: { rule: null, reason: 'not_final', proof: null },
    problem: { path: 'finality.proof', problem: 'is not there: not_final' },
  })
  await api.finalize(192)
  expect(await finalityAt('finalized')).toMatchObject({
    said: { rule: 'agreed', reason: 'no_certificate', proof: null },
    rule: 'agreed',
  })
  await certify(192, `${headers[1]['hash']}`, `${headers[1]['parentHash']}`)
  for (const [block, count] of [
    [191, 2],
    [192, 1],
    [`${headers[0]['hash']}`, 2],
  ] as const) {
    const { said, rule, problem } = await finalityAt(block)
    expect(problem).toBeNull()
    expect(said).toMatchObject({ rule: 'proved', reason: null, proof: { chainId: api.chainId, view: 9 } })
    expect(said.proof.headers).toHaveLength(count)
    expect(rule).toBe('proved')
  }
})

test('a block has it where it was asked for alone, and then counts as ten', async () => {
  const plain = await api.get('/v1/blocks/191')
  expect(plain.body.finality).toBeUndefined()
  const asked = await api.get('/v1/blocks/191?include=finality')
  expect([plain, asked].map(({ headers: told }) => told.get('x-units'))).toEqual(['1', '10'])
})

test('nothing is proved where headers do not lead to the certificate, or too many lie between', async () => {
  await api.finalize(192)
  await forget()
  await certify(192, `0x${'9'.repeat(64)}`, `${headers[1]['parentHash']}`)
  const unled = { rule: 'agreed', reason: 'headers_unproved', proof: null }
  expect(await finalityAt(191)).toMatchObject({ said: unled, rule: 'agreed' })
  await forget()
  await certify(193, `0x${'9'.repeat(64)}`, `${headers[1]['hash']}`)
  expect(await finalityAt(192)).toMatchObject({ said: unled, rule: 'agreed' })
  await forget()
  await certify(191 + 21_600, `0x${'9'.repeat(64)}`, `0x${'8'.repeat(64)}`)
  expect((await finalityAt(191)).said).toEqual({ rule: 'agreed', reason: 'certificate_far', proof: null })
  await forget()
})

test('a node that is asked for the final block in place of the store gives ours, or none', async () => {
  await api.finalize(192)
  await forget()
  await certify(192, `${headers[1]['hash']}`, `${headers[1]['parentHash']}`)
  const gone = openPostgres({
    url: 'postgres://127.0.0.1:1/none',
    applicationName: 'test',
    log: silentLogger,
  })
  const stored = { state: api.state, postgres: gone }
  const heads = () => 194
  const liar = await node({ call: plainNode(heads) })
  const honest = await node({
    call: plainNode(heads, ({ method, params: [at] }) =>
      method === 'eth_getBlockByNumber' && at === '0xc0' ? { result: headers[1] } : undefined,
    ),
  })
  const asked = async (...urls: string[]) => {
    const { call } = await door({ urls, stored })
    return await call('eth_getBlockByNumber', 'finalized', false)
  }
  expect(await asked(liar.url)).toMatchObject({ error: { code: -32603 } })
  expect(await asked(liar.url, honest.url)).toMatchObject({ result: { hash: headers[1]['hash'] } })
  await gone.close()
  await forget()
})
