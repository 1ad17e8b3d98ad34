/** The fee pools of a recorded chain at a block by viem, fee by fee, and those that a store holds. */
import { encodeEventTopics, type Hex, numberToHex, parseEventLogs, type RpcLog } from 'viem'
import { toHex } from '#store/sql.ts'
import { type RecordedBlock, readRecording } from '../../../chain/recordings.ts'
import { genesisTokens } from '../../support/balanceOracle.ts'
import type { ChainStore } from '../../support/chainStore.ts'
import { feeAbi, feeManager, idOf } from '../../support/feeRouteOracle.ts'
import { genesisReserve } from '../../support/followers.ts'

export const recording = 'tempo-dev-2k'
export const lastBlock = 122
const pathUsd = '0x20c0000000000000000000000000000000000000'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface NodeReceipt {
  readonly logs: RpcLog[]
}

export interface FeePool {
  readonly user: string
  readonly validator: string
  readonly created: number
  mints: number
  reserveUser: bigint
  reserveValidator: bigint
}

/** Pools up to and including a block, by id, and how many fees were turned into another token. */
export function poolsAt(
  block: number,
  chain: readonly RecordedBlock[] = readRecording(recording),
): { readonly pools: Map<string, FeePool>; readonly feeSwaps: number } {
  const pools = new Map<string, FeePool>()
  const chosen = new Map<string, string>()
  const quotes = new Map(genesisTokens.map((token) => [token, pathUsd as string]))
  let feeSwaps = 0
  const poolOf = (user: string, validator: string, created: number, reserve = 0n): FeePool => {
    const id = idOf(user, validator)
    const found = pools.get(id)
    if (found) return found
    const pool = {
      ...{ user, validator, created, mints: 0 },
      reserveUser: reserve,
      reserveValidator: reserve,
    }
    pools.set(id, pool)
    return pool
  }
  for (const user of genesisTokens)
    for (const validator of genesisTokens) if (user !== validator) poolOf(user, validator, 0, genesisReserve)
  for (const [number, { block: header, receipts }] of chain.slice(0, block + 1).entries()) {
    const { miner } = header as { miner: string }
    for (const { logs } of receipts as readonly NodeReceipt[]) {
      for (const { eventName, args, address } of parseEventLogs({ abi: feeAbi, logs })) {
        // The one token of the recording that changes its quote pays no fees.
        if (eventName === 'QuoteTokenUpdate') continue
        if (eventName === 'TokenCreated') {
          quotes.set(args.token.toLowerCase(), args.quoteToken.toLowerCase())
          continue
        }
        if (address !== feeManager) continue
        if (eventName === 'ValidatorTokenSet') {
          chosen.set(args.validator.toLowerCase(), args.token.toLowerCase())
          continue
        }
        const pool = poolOf(args.userToken.toLowerCase(), args.validatorToken.toLowerCase(), number)
        if (eventName === 'Mint') {
          pool.mints += 1
          pool.reserveValidator += args.amountValidatorToken
        } else if (eventName === 'Burn') {
          pool.reserveUser -= args.amountUserToken
          pool.reserveValidator -= args.amountValidatorToken
        } else {
          pool.reserveUser -= args.amountOut
          pool.reserveValidator += args.amountIn
        }
      }
      // The fee is the last log of a transaction that is not free.
      const last = logs.at(-1)
      const paid = last?.topics[0] === transferTopic && `0x${last.topics[2]?.slice(26)}` === feeManager
      const taken = chosen.get(miner.toLowerCase()) ?? pathUsd
      if (!paid || last.address === taken) continue
      // Where none is between the two tokens, two others turned the fee.
      const between = quotes.get(last.address) ?? pathUsd
      const direct = pools.get(idOf(last.address, taken))
      const hops = direct
        ? [direct]
        : [pools.get(idOf(last.address, between)), pools.get(idOf(between, taken))]
      if (hops.includes(undefined)) continue
      feeSwaps += 1
      let amount = BigInt(last.data)
      for (const pool of hops) {
        if (!pool) continue
        pool.reserveUser += amount
        amount = (amount * 9_970n) / 10_000n
        pool.reserveValidator -= amount
      }
    }
  }
  return { pools, feeSwaps }
}

/**
 * The recording as two validators made it in turn; the second one asks for other tokens on the way.
 */
export function madeByTwo(): readonly RecordedBlock[] {
  const chosen = new Map([
    [20, genesisTokens[1]],
    [70, genesisTokens[2]],
  ])
  return readRecording(recording).map(({ block, receipts }, number) => {
    const miner = validators[number % 2]
    const written = structuredClone(receipts) as NodeReceipt[]
    const token = chosen.get(number)
    const logs = written.find((receipt) => receipt.logs.length > 0)?.logs ?? []
    const [first] = logs
    if (token && first) {
      const topics = encodeEventTopics({
        ...{
          abi: feeAbi,
          eventName: 'ValidatorTokenSet',
          args: { validator: validators[1], token: token as Hex },
        },
      })
      logs.unshift({ ...first, address: feeManager, topics: topics as [Hex, ...Hex[]], data: '0x' })
    }
    for (const [index, log] of written.flatMap(({ logs }) => logs).entries())
      log.logIndex = numberToHex(index)
    return { block: { ...(block as object), miner }, receipts: written }
  })
}
const validators = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const

export async function storedPools({ postgres, schema }: ChainStore): Promise<Map<string, FeePool>> {
  const { rows } = await postgres.pool.query(`SELECT * FROM ${schema}.fee_pools_current`)
  return new Map(
    rows.map((row) => [
      toHex(row.pool),
      {
        ...{ user: toHex(row.user_token), validator: toHex(row.validator_token) },
        ...{ created: Number(row.created_block), mints: row.mint_count },
        ...{ reserveUser: BigInt(row.reserve_user), reserveValidator: BigInt(row.reserve_validator) },
      },
    ]),
  )
}
