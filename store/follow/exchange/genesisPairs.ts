/**
 * Pairs of genesis, which no event created: those a node has where the fold stands and no event
 * told of. Asked once, when the fold has caught up; one that has an order is there from it on.
 */
import { parseAbi } from 'viem/utils'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { Address, Hash } from '#primitives.ts'
import { stablecoinDexAddress, zeroAddress } from '#transform/addresses.ts'
import { askContracts } from '../askContracts.ts'
import type { FoldState } from '../fold.ts'
import { insertChanges, readStates } from '../foldTables.ts'
import {
  type BlockFollower,
  type Completion,
  type FollowerContext,
  type FollowerTransaction,
  readTipHash,
} from '../follower.ts'
import { readGenesisSeconds } from '../genesisBlock.ts'
import { GENESIS_LOG_INDEX, readGenesisTokens } from '../tokens/genesisTokens.ts'
import { createdAtGenesis, pairKey, pairsTable } from './bookStates.ts'

const [books] = parseAbi([
  'function books(bytes32 pairKey) view returns ((address base, address quote, int16 bestBidTick, int16 bestAskTick))',
])

interface GenesisPair {
  readonly base: Address
  readonly quote: Address
}

/** @throws a MillraceError with remedy `retry` when no node tells of the block the fold stands at */
export async function completePairs(
  call: CallContracts,
  context: FollowerContext,
  follower: Pick<BlockFollower, 'name' | 'version'>,
): Promise<Completion> {
  const at = await readTipHash(context.postgres.pool, context.schema, follower)
  const pairs = await readGenesisPairs(call, context, at)
  return { store: (transaction) => storeGenesisPairs(transaction, pairs), last: true }
}

/** Those between tokens of genesis; events created some of them. */
async function readGenesisPairs(
  call: CallContracts,
  context: Pick<FollowerContext, 'signal'>,
  at: Hash,
): Promise<readonly GenesisPair[]> {
  const tokens = await readGenesisTokens(call, context)
  const pairs = tokens.flatMap(({ entity, state }) => pairOf(entity, state))
  const questions = pairs.map(({ base, quote }) => ({
    to: stablecoinDexAddress,
    ask: books,
    args: [pairKey(base, quote)],
  }))
  const answers = await askContracts(call, questions, at, context.signal)
  return pairs.filter((_, index) => isBook(answers[index]))
}

function pairOf(base: string, { quote_token: quote }: FoldState<{ quote_token: 'address?' }>): GenesisPair[] {
  return quote === null ? [] : [{ base: base as Address, quote }]
}

const isBook = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'base' in answer && answer.base !== zeroAddress

async function storeGenesisPairs(
  { client, schema }: FollowerTransaction,
  pairs: readonly GenesisPair[],
): Promise<void> {
  const created = createdAtGenesis(await readGenesisSeconds(client, schema))
  const changes = pairs.map(({ base, quote }) => ({
    entity: pairKey(base, quote),
    ...{ blockNumber: 0, logIndex: GENESIS_LOG_INDEX },
    state: { base, quote, ...created, reserve0: 0n, reserve1: 0n },
  }))
  const held = await readStates(
    client,
    schema,
    pairsTable,
    changes.map(({ entity }) => entity),
  )
  await insertChanges(
    client,
    schema,
    pairsTable,
    changes.filter(({ entity }) => !held.has(entity)),
  )
}
