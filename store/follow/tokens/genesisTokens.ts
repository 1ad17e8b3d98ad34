/**
 * Tokens of genesis, which no event created: asked of a node once, before the tokens fold takes its
 * first block. Their attributes are the node's newest; an attribute an event has changed is told
 * again by that event, all others never changed.
 */
import type { AbiFunction } from 'viem'
import { parseAbi } from 'viem/utils'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { type Address, address } from '#primitives.ts'
import { tip20, zeroAddress } from '#transform/addresses.ts'
import { askContracts } from '../askContracts.ts'
import type { FoldChange } from '../fold.ts'
import type { FollowerContext } from '../follower.ts'
import { blankToken, type TokenColumns } from './tokens.ts'
import { shortText, shortUri } from './tokenTexts.ts'

/**
 * Addresses asked. The lowest thousand are reserved for tokens that no factory made; networks use
 * them from 0 on, four at most so far.
 */
const GENESIS_TOKENS_MAX = 16

const functions = parseAbi([
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function currency() view returns (string)',
  'function quoteToken() view returns (address)',
  'function supplyCap() view returns (uint256)',
  'function paused() view returns (bool)',
  'function transferPolicyId() view returns (uint64)',
  'function logoURI() view returns (string)',
] as const) satisfies readonly AbiFunction[]

type FunctionName = (typeof functions)[number]['name']
type Answers = Readonly<Record<FunctionName, unknown>>

/** Place of what genesis holds: before the first log of block 0. */
export const GENESIS_LOG_INDEX = -1

export async function readGenesisTokens(
  call: CallContracts,
  { signal }: Pick<FollowerContext, 'signal'>,
): Promise<FoldChange<TokenColumns>[]> {
  const tokens = Array.from({ length: GENESIS_TOKENS_MAX }, (_, number) => genesisToken(number))
  const questions = tokens.flatMap((to) => functions.map((ask) => ({ to, ask })))
  const answers = await askContracts(call, questions, 'latest', signal)
  return tokens.flatMap((token, index) => {
    const own = functions.map(({ name }, position) => [name, answers[index * functions.length + position]])
    const change = changeOf(token, Object.fromEntries(own) as Answers)
    return change ? [change] : []
  })
}

function genesisToken(number: number): Address {
  return address(`${tip20.prefix}${number.toString(16).padStart(16, '0')}`)
}

/** Null where no token lives: it has no symbol. */
function changeOf(token: Address, told: Answers): FoldChange<TokenColumns> | null {
  const symbol = textOf(told.symbol)
  if (symbol === null) return null
  return {
    entity: token,
    blockNumber: 0,
    logIndex: GENESIS_LOG_INDEX,
    state: {
      ...blankToken(0, GENESIS_LOG_INDEX),
      symbol,
      name: textOf(told.name),
      currency: textOf(told.currency),
      quote_token: addressOf(told.quoteToken),
      supply_cap: bigintOf(told.supplyCap),
      paused: told.paused === true,
      transfer_policy_id: bigintOf(told.transferPolicyId),
      logo_uri: typeof told.logoURI === 'string' ? shortUri(told.logoURI) : null,
    },
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? shortText(value) : null)
const bigintOf = (value: unknown): bigint | null => (typeof value === 'bigint' ? value : null)
/** pathUSD is quoted in nothing: it answers zero. */
const addressOf = (value: unknown): Address | null =>
  typeof value === 'string' && address(value) !== zeroAddress ? address(value) : null
