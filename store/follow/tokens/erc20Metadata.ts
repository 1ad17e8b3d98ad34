/**
 * Names, symbols and decimals of ERC-20 tokens, which no event tells: asked of a node, many tokens
 * at once, after a token was first transferred. Contracts may answer anything, or nothing. On
 * Tempo, events tell those of standard tokens.
 */
import type { AbiFunction } from 'viem'
import { parseAbi } from 'viem/utils'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { type Address, address, type Hex } from '#primitives.ts'
import { isTip20 } from '#transform/addresses.ts'
import type { ChainKind } from '#transform/profile.ts'
import { quoteIdentifier, toBytes, toHex } from '../../sql.ts'
import { decodeAnswer, readAnswers } from '../askContracts.ts'
import type { BlockFollower, Completion, FollowerContext, FollowerTransaction } from '../follower.ts'
import { shortText } from './tokenTexts.ts'

/** Tokens asked about at once: three requests of a hundred calls. */
const TOKENS_AT_ONCE = 100
/**
 * What a token may cost to ask: a hundred times what one needs, and too little for an answer of
 * many megabytes.
 */
const GAS_MAX: Hex = '0x4c4b40'

const [nameOf, symbolOf, decimalsOf] = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])
const functions = [nameOf, symbolOf, decimalsOf] as const

/** No sensible token says more; the rest is cut. */
const TEXT_CHARACTERS_MAX = 256

/** What a token says of itself. */
interface Metadata {
  readonly token: Address
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
}

export function erc20MetadataFollower(kind: ChainKind, call: CallContracts): BlockFollower {
  return {
    name: 'erc20_metadata',
    version: 1,
    needs: ['balances'],
    begins: 'early',
    prepare: async () => async () => {},
    complete: (context) => readMetadata(kind, call, context),
    clear: async ({ client, schema }) => {
      await client.query(`TRUNCATE ${quoteIdentifier(schema)}.erc20_metadata`)
      await client.query(
        `UPDATE ${quoteIdentifier(schema)}.token_totals SET metadata_asked = false WHERE metadata_asked`,
      )
    },
    // Blocks tell only that there is a token; what it says of itself does not depend on them.
    apply: async (_transaction, { to }) => to,
    revert: async () => {},
  }
}

/** The oldest tokens nobody has asked about yet. */
async function readMetadata(
  kind: ChainKind,
  call: CallContracts,
  { postgres, schema, signal }: FollowerContext,
): Promise<Completion | null> {
  const found = await postgres.pool.query<{ token: Buffer }>(
    `SELECT token FROM ${quoteIdentifier(schema)}.token_totals WHERE NOT metadata_asked
     ORDER BY first_block, first_log_idx, token LIMIT $1`,
    [TOKENS_AT_ONCE],
  )
  const unasked = found.rows.map(({ token }) => address(toHex(token)))
  if (unasked.length === 0) return null
  const tokens = kind === 'tempo' ? unasked.filter((token) => !isTip20(token)) : unasked
  const questions = tokens.flatMap((to) => functions.map((ask) => ({ to, ask, gas: GAS_MAX })))
  const answers = await readAnswers(call, questions, 'latest', signal)
  const told = tokens.map((token, index): Metadata => {
    const [name = null, symbol = null, decimals = null] = answers.slice(index * functions.length)
    return {
      token,
      name: readText(nameOf, name),
      symbol: readText(symbolOf, symbol),
      decimals: readNumber(decimalsOf, decimals),
    }
  })
  return { store: (transaction) => store(transaction, told, unasked), last: false }
}

/** `settled` are the tokens that need not be asked about again. */
async function store(
  { client, schema }: FollowerTransaction,
  told: readonly Metadata[],
  settled: readonly Address[],
): Promise<void> {
  await client.query(
    `INSERT INTO ${quoteIdentifier(schema)}.erc20_metadata (token, name, symbol, decimals)
     SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::integer[])
     ON CONFLICT (token) DO UPDATE SET name = excluded.name, symbol = excluded.symbol, decimals = excluded.decimals`,
    [
      told.map(({ token }) => toBytes(token)),
      told.map(({ name }) => name),
      told.map(({ symbol }) => symbol),
      told.map(({ decimals }) => decimals),
    ],
  )
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.token_totals SET metadata_asked = true WHERE token = ANY ($1)`,
    [settled.map(toBytes)],
  )
}

/** Null where the answer is no text. */
function readText(ask: AbiFunction, answer: Hex | null): string | null {
  const told = decodeAnswer(ask, answer)
  const text = typeof told === 'string' ? told : readShortText(answer)
  return text === null ? null : shortText(text, TEXT_CHARACTERS_MAX)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The oldest tokens answer with 32 bytes, filled up with zeros. */
function readShortText(answer: Hex | null): string | null {
  const bytes = Buffer.from(answer?.slice(2) ?? '', 'hex')
  if (bytes.length !== 32 || bytes[0] === 0) return null
  try {
    return utf8.decode(bytes).replace(/\0+$/, '')
  } catch {
    // Bytes that are no text.
    return null
  }
}

/** uint8 comes as a number. */
function readNumber(ask: AbiFunction, answer: Hex | null): number | null {
  const told = decodeAnswer(ask, answer)
  return typeof told === 'number' ? told : null
}
