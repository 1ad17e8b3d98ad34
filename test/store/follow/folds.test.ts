// Goal: what a fold holds is what the chain's events say, whatever was reverted, killed or cut into
// pieces on the way.
// Method: the recorded chain in a real store; expectations by viem over the raw recording, and by
// the recorded node's own answers at its last block.
import { decodeFunctionResult, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { foldFollower } from '#store/follow/foldFollower.ts'
import { readGenesisTokens } from '#store/follow/tokens/genesisTokens.ts'
import { tokensFold } from '#store/follow/tokens/tokens.ts'
import { toldText } from '#store/follow/tokens/tokenTexts.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { toHex } from '#store/sql.ts'
import { readCalls } from '../../chain/recordings.ts'
import { few, fullTest } from '../../support/breadth.ts'
import { genesisTokens, readBalances } from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedRuns } from '../support/chainStore.ts'
import { followersOf, recordedCalls } from '../support/followers.ts'
import { type OracleToken, tokensAt } from '../support/tokenOracle.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

interface StoredToken extends OracleToken {
  readonly policyId: bigint
  readonly isGenesis: boolean
}

async function storedTokens(store: ChainStore): Promise<Map<string, StoredToken>> {
  const { rows } = await store.postgres.pool.query(`SELECT * FROM ${store.schema}.tip20_current`)
  return new Map(
    rows.map((row) => [
      toHex(row.token),
      {
        createdBlock: row.created_block,
        createdAtSeconds: row.created_at === null ? 0 : row.created_at.getTime() / 1000,
        name: toldText(row.name),
        symbol: toldText(row.symbol),
        currency: toldText(row.currency),
        quoteToken: row.quote_token && toHex(row.quote_token),
        admin: row.admin && toHex(row.admin),
        supplyCap: BigInt(row.supply_cap),
        paused: row.paused,
        policyId: BigInt(row.transfer_policy_id),
        isGenesis: row.created_at === null,
      },
    ]),
  )
}

/** Tokens an event created, with what the oracle knows of them. */
const created = (tokens: ReadonlyMap<string, StoredToken>): Map<string, OracleToken> =>
  new Map(
    [...tokens]
      .filter(([, token]) => !token.isGenesis)
      .map(([address, { policyId: _policyId, isGenesis: _isGenesis, ...token }]) => [address, token]),
  )

async function historyOf(store: ChainStore) {
  const tables = ['tokens_history', 'token_names_history', 'token_logos_history'].map((table) =>
    store.postgres.pool.query(`SELECT * FROM ${store.schema}.${table} ORDER BY block_num, log_idx, token`),
  )
  return (await Promise.all(tables)).flatMap(({ rows }) => rows)
}

const depths = Array.from({ length: 20 }, (_, index) => index + 1)

const run = recordedRuns(recording)
const callContracts = recordedCalls(recording, readBalances(recording))

async function openStore() {
  const store = await openChainStore({ headFrom: 0 })
  afterAll(() => store.close())
  return store
}
async function append(store: ChainStore, from: number, to: number) {
  for (const batch of run(from, to)) await store.head.append(batch)
}

describe('folds', () => {
  test('token attributes are those the node answers at the same block', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await followersOf(store, { callContracts }).settle()
    const tokens = await storedTokens(store)
    const answers = readCalls(recording)
    const addresses = new Set(
      Object.keys(answers)
        .map((key) => key.slice(0, 42))
        .filter((address) => address.startsWith('0x20c0')),
    )
    expect(addresses.size).toBeGreaterThan(10)
    expect(new Set(tokens.keys())).toEqual(addresses)
    const abi = parseAbi([
      'function name() view returns (string)',
      'function symbol() view returns (string)',
      'function currency() view returns (string)',
      'function quoteToken() view returns (address)',
      'function paused() view returns (bool)',
      'function supplyCap() view returns (uint256)',
      'function transferPolicyId() view returns (uint64)',
    ])
    for (const [address, token] of tokens) {
      const told = Object.fromEntries(
        abi.map((item) => {
          const data = answers[`${address}:${toFunctionSelector(item)}`] as Hex
          const value = decodeFunctionResult({ abi: [item], functionName: item.name, data })
          return [item.name, value]
        }),
      )
      expect(
        {
          ...{ name: token.name, symbol: token.symbol, currency: token.currency, paused: token.paused },
          quoteToken: token.quoteToken ?? `0x${'00'.repeat(20)}`,
          supplyCap: token.supplyCap,
          transferPolicyId: token.policyId,
        },
        address,
      ).toEqual({ ...told, quoteToken: String(told['quoteToken']).toLowerCase() })
    }
    const genesis = [...tokens].filter(([, { isGenesis }]) => isGenesis).map(([address]) => address)
    expect(genesis.sort()).toEqual(genesisTokens)
  })

  fullTest(
    'the same rows come from final blocks, from blocks at the head, and from the smallest pieces',
    async () => {
      const [atHead, final, pieces] = [await openStore(), await openStore(), await openStore()]
      const small = foldFollower(tokensFold, (context) => readGenesisTokens(callContracts, context), 1)
      for (const store of [atHead, final, pieces]) await append(store, 0, lastBlock)
      await final.head.finalize(100)
      await pieces.head.finalize(lastBlock)
      await followersOf(atHead, { callContracts }).settle()
      await followersOf(final, { callContracts }).settle()
      await followersOf(pieces, { callContracts, followers: [small] }).settle()
      const expected = await historyOf(atHead)
      expect(expected.length).toBeGreaterThan(30)
      expect(await historyOf(final)).toEqual(expected)
      expect(await historyOf(pieces)).toEqual(expected)
      for (const store of [atHead, final, pieces])
        expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([
          { from: 0, to: lastBlock },
        ])
    },
  )
})

describe('folds after reverts, crashes and gaps', () => {
  test('reverts of any depth up to 20 leave what the remaining chain says', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    const { settle } = followersOf(store, { callContracts })
    await settle()
    const complete = await historyOf(store)
    for (const depth of few(depths, 4)) {
      const tip = lastBlock - depth
      await store.head.revert(await store.head.refAt(tip))
      // Every other time the chain has grown again before the fold looks.
      if (depth % 2 === 0) await settle()
      if (depth % 2 === 0)
        expect(created(await storedTokens(store)), `${depth}`).toEqual(tokensAt(recording, tip))
      await append(store, tip + 1, lastBlock)
      await settle()
      expect(await historyOf(store), `${depth}`).toEqual(complete)
    }
    expect(created(await storedTokens(store))).toEqual(tokensAt(recording, lastBlock))
  })

  test('a revert below blocks that became final while the fold was away is still followed', async () => {
    const store = await openStore()
    await append(store, 0, 60)
    await followersOf(store, { callContracts }).settle()
    await store.head.revert(await store.head.refAt(40))
    // The replacing blocks hold nothing of what stood there.
    await append(store, 41, 41)
    await store.head.finalize(41)
    await followersOf(store, { callContracts }).settle()
    expect(created(await storedTokens(store))).toEqual(tokensAt(recording, 41))
  })

  test('a writer that dies before its commit loses nothing and doubles nothing', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await store.head.finalize(90)
    for (const place of ['postgres.follower.rows', 'postgres.follower.commit'])
      for (const nth of [1, 2]) {
        let visits = 0
        const failpoint = (name: string) => {
          if (name === place && ++visits === nth) throw new Error('killed')
        }
        const dying = followersOf(store, { callContracts, failpoint })
        await dying.settle().catch(() => {})
      }
    await followersOf(store, { callContracts }).settle()
    expect(created(await storedTokens(store))).toEqual(tokensAt(recording, lastBlock))
  })

  test('a fenced-out writer writes nothing', async () => {
    const store = await openStore()
    await append(store, 0, 20)
    await expect(followersOf(store, { callContracts, fence: 0n }).settle()).rejects.toMatchObject({
      code: 'fenced_out',
    })
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([])
  })

  test('where history does not begin at genesis the fold says so and does nothing', async () => {
    const store = await openStore()
    await append(store, 0, 20)
    const { driver } = followersOf(store, { callContracts, startBlock: 10 })
    await driver.run(new AbortController().signal)
    expect(driver.status[0]).toMatchObject({ name: 'tokens', state: 'unavailable', tip: -1 })
    expect(driver.status[0]?.problem).toContain('10')
  })

  test('a fold waits for the blocks between genesis and the head lane', async () => {
    const store = await openChainStore({ headFrom: 100 })
    onTestFinished(() => store.close())
    await append(store, 100, lastBlock)
    const { settle } = followersOf(store, { callContracts })
    await settle()
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([])
    const [chunk] = await store.history.openChunks({ from: 0, to: 99 })
    let loaded = chunk
    for (const batch of run(0, 99)) {
      if (!loaded) throw new Error('no chunk was opened')
      await store.history.appendToChunk(loaded, batch)
      loaded = { ...loaded, tip: batch.range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
    }
    if (loaded) await store.history.attachChunk(loaded)
    await settle()
    expect(created(await storedTokens(store))).toEqual(tokensAt(recording, lastBlock))
  })
})
