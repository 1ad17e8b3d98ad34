/**
 * Pairs of genesis, which no event created: asked of a node, once. One it does not tell begins with
 * its first order.
 */
import { parseAbi } from 'viem/utils'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { Address } from '#primitives.ts'
import { stablecoinDexAddress, zeroAddress } from '#transform/addresses.ts'
import { askContracts } from '../askContracts.ts'
import type { FoldState } from '../fold.ts'
import type { FollowerContext } from '../follower.ts'
import { readGenesisTokens } from '../tokens/genesisTokens.ts'
import { pairKey } from './bookStates.ts'

const [books] = parseAbi([
  'function books(bytes32 pairKey) view returns ((address base, address quote, int16 bestBidTick, int16 bestAskTick))',
])

export interface GenesisPair {
  readonly base: Address
  readonly quote: Address
}

/** Between tokens of genesis. A pair that an event creates later is among them until then. */
export async function readGenesisPairs(
  call: CallContracts,
  context: Pick<FollowerContext, 'signal'>,
): Promise<readonly GenesisPair[]> {
  const tokens = await readGenesisTokens(call, context)
  const pairs = tokens.flatMap(({ entity, state }) => pairOf(entity, state))
  const questions = pairs.map(({ base, quote }) => ({
    to: stablecoinDexAddress,
    ask: books,
    args: [pairKey(base, quote)],
  }))
  const answers = await askContracts(call, questions, 'latest', context.signal)
  return pairs.filter((_, index) => isBook(answers[index]))
}

function pairOf(base: string, { quote_token: quote }: FoldState<{ quote_token: 'address?' }>): GenesisPair[] {
  return quote === null ? [] : [{ base: base as Address, quote }]
}

const isBook = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'base' in answer && answer.base !== zeroAddress
