// Goal: the two header fields of Amsterdam are in lists of blocks, in a block alone, beside what the
// node said, in SQL of both engines and in its files; before the fork no such field is there.
// Method: a devnet's last block before the fork and its first one, in a real store behind a server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decode } from '../../store/support/chainStore.ts'
import { amsterdamHeader } from '../../support/amsterdam.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'

const before = amsterdamHeader('devnet191prague')
const first = amsterdamHeader('devnet192amsterdam')
const fields = { blockAccessListHash: first['blockAccessListHash'], slotNumber: 192 }

let api: ChainApi
let check: ResponseCheck
beforeAll(async () => {
  api = await openChainApi({ kind: 'evm', headFrom: 191, startBlock: 191 })
  const blocks = [before, first].map((block) => ({ block, receipts: [] }))
  await api.append([decode({ ...rangeOf(blocks), endpoint: 'test' }, 'roots', ethereumProfile)])
  await api.finalize(192)
  await api.fillClickHouse()
  check = await responseCheck(api)
})
afterAll(() => api.close())

test('a list of blocks has them from the fork on', async () => {
  const list = await api.get('/v1/blocks')
  expect(check('/v1/blocks', list)).toEqual([])
  const shown = { transactionCount: 0, timestamp: expect.any(String) }
  expect(list.body.data).toEqual([
    { id: first['hash'], hash: first['hash'], number: 192, ...shown, ...fields },
    { id: before['hash'], hash: before['hash'], number: 191, ...shown },
  ])
})

test('a block alone has them beside what the node said', async () => {
  const one = await api.get('/v1/blocks/192')
  expect(check('/v1/blocks/{block}', one)).toEqual([])
  expect(one.body).toMatchObject({ ...fields, meta: { rpc: first } })
  const other = await api.get('/v1/blocks/191')
  expect(Object.keys(other.body)).not.toEqual(expect.arrayContaining(['slotNumber']))
})

test.each(['postgres', 'clickhouse'])('SQL shows them, and its files have them (%s)', async (engine) => {
  const sql = encodeURIComponent('SELECT num, block_access_list_hash, slot_number FROM blocks ORDER BY num')
  const file = await api.get(`/v1/indexer/query?engine=${engine}&format=csv&sql=${sql}`)
  expect(file.status).toBe(200)
  const lines = String(file.body).trim().split(/\r?\n/)
  expect(lines).toEqual([
    'num,block_access_list_hash,slot_number',
    '191,,',
    `192,${first['blockAccessListHash']},192`,
  ])
})
