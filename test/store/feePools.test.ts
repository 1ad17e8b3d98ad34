// Goal: the fee pools are those of genesis and those somebody added liquidity to, whatever was reverted on the way.
// Method: the recorded chain in a real store; expectations by viem over the raw recording.

import { encodeAbiParameters, type Hex, keccak256, parseAbi, parseAbiParameters, parseEventLogs } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { FeePoolsUnreadableError } from '#store/follow/feePools.ts'
import { toHex } from '#store/sql.ts'
import { describeWithShared, readRecording } from '../support/shared.ts'
import { genesisTokens, readBalances } from './support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedBatches } from './support/chainStore.ts'
import { followersOf, recordedCalls } from './support/followers.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const feeManager: string = '0xfeec000000000000000000000000000000000000'
const abi = parseAbi([
  'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
])

type Pool = readonly [pool: string, userToken: string, validatorToken: string, createdBlock: number]

const idOf = (userToken: Hex, validatorToken: Hex) =>
  keccak256(encodeAbiParameters(parseAbiParameters('address, address'), [userToken, validatorToken]))

/** Pools up to and including a block, by id. */
function poolsAt(block: number): Pool[] {
  const pools = new Map<string, Pool>()
  const add = (userToken: string, validatorToken: string, created: number) => {
    const id = idOf(userToken as Hex, validatorToken as Hex)
    if (!pools.has(id)) pools.set(id, [id, userToken.toLowerCase(), validatorToken.toLowerCase(), created])
  }
  for (const user of genesisTokens)
    for (const validator of genesisTokens) if (user !== validator) add(user, validator, 0)
  for (const [number, { receipts }] of readRecording(recording)
    .slice(0, block + 1)
    .entries()) {
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    const logs = (receipts as any[]).flatMap((receipt) => receipt.logs)
    for (const { args, address } of parseEventLogs({ abi, logs }))
      if (address === feeManager) add(args.userToken, args.validatorToken, number)
  }
  return [...pools.values()].sort()
}

async function storedPools({ postgres, schema }: ChainStore): Promise<Pool[]> {
  const { rows } = await postgres.pool.query(`SELECT * FROM ${schema}.fee_pools_current`)
  return rows
    .map(
      (row): Pool => [
        toHex(row.pool),
        toHex(row.user_token),
        toHex(row.validator_token),
        Number(row.created_block),
      ],
    )
    .sort()
}

describeWithShared('fee pools', () => {
  test('are those of genesis and those of the events, after reverts too', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const batches = recordedBatches(recording, 1)
    for (const batch of batches) await store.head.append(batch)
    const { settle } = followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    await settle()
    const expected = poolsAt(lastBlock)
    expect(expected.length).toBeGreaterThan(12)
    expect(await storedPools(store)).toEqual(expected)
    const tip = Math.max(...expected.map(([, , , created]) => created)) - 1
    await store.head.revert(await store.head.refAt(tip))
    await settle()
    expect(await storedPools(store)).toEqual(poolsAt(tip))
    expect(poolsAt(tip).length).toBeLessThan(expected.length)
  })

  test('wait for a node that tells those of genesis', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    await store.head.append(recordedBatches(recording, 10)[0] ?? expect.fail())
    const honest = recordedCalls(recording, readBalances(recording))
    const silent = followersOf(store, {
      callContracts: async (calls, at, signal) =>
        (await honest(calls, at, signal)).map((answer, index) =>
          calls[index]?.to === feeManager ? null : answer,
        ),
    })
    await expect(silent.settle()).rejects.toThrow(FeePoolsUnreadableError)
    expect(await storedPools(store)).toEqual([])
  })
})
