// Goal: a dev chain that lacks a block which was final is known as lost, and what hung on a chain
// that is gone waits for nothing.
// Method: a real dev chain whose final blocks are replaced, beside a ledger of them; webhooks over a
// chain that another one follows under the same id.
import { afterAll, expect, test } from 'vitest'
import { findLoss } from '#program/devChains.ts'
import { appDatabase } from '#rows/database.ts'
import { readGenesis } from '#store/ledger/ledger.ts'
import { beginAgain } from '#webhooks/matching/beginAgain.ts'
import { startIndexedDevChain } from '../../payments/support/indexed.ts'
import { mineBlocks, reorg } from '../../support/devchain.ts'
import { batchesOf, forkOf, recorded } from '../../webhooks/support/forks.ts'
import { openMatcher } from '../../webhooks/support/openMatcher.ts'
import { openService } from '../../webhooks/support/openService.ts'

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

test('a dev chain is lost when a block that was final is another one, or is not there', async () => {
  const indexed = await startIndexedDevChain(1337)
  closing.push(() => indexed.close())
  const { store, rpc, rpcUrl } = indexed
  await rpc.call('evm_setIntervalMining', 0)
  await mineBlocks(rpcUrl, 30)
  await indexed.catchUp()
  const generation = (await readGenesis(store.postgres, store.chainId)) ?? ''
  const chain = { chainId: store.chainId, rpcUrl, generation }
  const loss = () => findLoss(chain, store.postgres)

  expect(await loss()).toBeNull()
  await reorg(rpcUrl, 3)
  expect(await loss()).toBeNull()
  await reorg(rpcUrl, 20)
  expect(await loss()).toMatch(/^block \d+, which was final, is gone$/)
  await rpc.call('anvil_rollback', 20)
  expect(await loss()).toMatch(/^block \d+, which was final, is gone$/)
  // By its block 0 it is known for another chain, and nothing is compared.
  expect(await findLoss({ ...chain, generation: `0x${'ab'.repeat(32)}` }, store.postgres)).toBeNull()
  expect(await findLoss({ ...chain, chainId: 99 }, store.postgres)).toBeNull()
})

test('subscriptions hold from the first block of the chain that follows, and what was sent is taken back', async () => {
  const main = recorded(30)
  const service = await openService()
  closing.push(() => service.close())
  const { store, id } = service
  await service.append(batchesOf(main, 0, 19))
  await service.subscribe({
    ...{ eventType: 'block:created', destination: { type: 'url', url: 'http://127.0.0.1:9/' } },
  })
  await service.append(batchesOf(main, 20, 25))
  const { postgres, schema } = store
  const app = appDatabase(postgres)
  const matcher = await openMatcher({ app, postgres, chainId: id, schema })
  const { signal } = new AbortController()
  const matchAll = async () => {
    while (await matcher.step(signal));
  }
  const messages = async () => {
    const rows = await app
      .selectFrom('app.webhook_messages')
      .select(['type', 'block_num', 'state'])
      .orderBy('id')
      .execute()
    return rows.map(({ type, block_num: block, state }) => `${type} ${block} ${state}`)
  }
  await matchAll()
  expect(await messages()).toEqual(
    [20, 21, 22, 23, 24, 25].map((number) => `block:created ${number} waiting`),
  )
  await app
    .updateTable('app.webhook_messages')
    .set({ attempts: 1, state: 'delivered' })
    .where('block_num', '=', 20)
    .execute()

  await app.transaction().execute((transaction) => beginAgain(transaction, id, 0))
  await store.head.revert(null)
  await service.append(batchesOf(forkOf(main, 0, 'another'), 0, 2))
  await matchAll()
  expect(await messages()).toEqual([
    'block:created 20 withdrawn',
    'event:retracted 20 waiting',
    ...[0, 1, 2].map((number) => `block:created ${number} waiting`),
  ])
})
