/**
 * Names, symbols and decimals of ERC-20 tokens, which no event tells: asked of a node, many tokens
 * at once, after a token was first transferred. Contracts may answer anything, or nothing. On
 * Tempo, events tell those of standard tokens.
 */
import type { AbiFunction } from 'viem'
import { concatHex, numberToHex, parseAbi } from 'viem/utils'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { type Address, address, decimalsOf, type Hex } from '#primitives.ts'
import { isTip20 } from '#transform/addresses.ts'
import type { ChainKind } from '#transform/profile.ts'
import { quoteIdentifier, relationOf, toBytes, toHex } from '../../sql.ts'
import { decodeAnswer, QUESTION_GAS_MAX, readAnswers } from '../askContracts.ts'
import type { BlockFollower, Completion, FollowerContext, FollowerTransaction } from '../follower.ts'
import { describeStopped, type LoneRow, stoppedTable, storeOrLeaveOut } from '../stoppedEntities.ts'
import { shortText } from './tokenTexts.ts'

/** Tokens asked about at once: three requests of a hundred calls. */
const TOKENS_AT_ONCE = 100

const [nameFunction, symbolFunction, decimalsFunction] = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  // A uint8, read as what a contract can answer.
  'function decimals() view returns (uint256)',
])
const functions = [nameFunction, symbolFunction, decimalsFunction] as const

/** No sensible token says more; the rest is cut. */
const TEXT_CHARACTERS_MAX = 256
/**
 * More than its characters can have as UTF-8. To decode a name of 1.5 MB, as long as `QUESTION_GAS_MAX` lets
 * it be, takes 20 ms, and a hundred tokens may have such names.
 */
const TEXT_BYTES_MAX = 4 * TEXT_CHARACTERS_MAX + 32
/** The head of a text: its beginning and its length, a word each. */
const HEAD_BYTES = 64

/** A token's word on itself. */
interface Metadata extends LoneRow {
  readonly entity: Address
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
}

const FOLLOWER = 'erc20_metadata'

export function erc20MetadataFollower(kind: ChainKind, call: CallContracts): BlockFollower {
  return {
    name: FOLLOWER,
    version: 1,
    needs: ['balances'],
    begins: 'early',
    prepare: async () => async () => {},
    complete: (context) => readMetadata(kind, call, context),
    clear: async ({ client, schema }) => {
      const tables = [FOLLOWER, stoppedTable(FOLLOWER)].map((table) => relationOf(schema, table))
      await client.query(`TRUNCATE ${tables.join(', ')}`)
      await client.query(
        `UPDATE ${quoteIdentifier(schema)}.token_totals SET metadata_asked = false WHERE metadata_asked`,
      )
    },
    // Blocks tell only that there is a token; what it says of itself does not depend on them.
    apply: async (_transaction, { to }) => to,
    revert: async () => {},
    inspect: async (client, schema) => ({
      ...{ strays: 0, differs: await describeStopped(client, schema, FOLLOWER) },
    }),
  }
}

/** The oldest tokens nobody has asked about yet. */
async function readMetadata(
  kind: ChainKind,
  call: CallContracts,
  { postgres, schema, signal }: FollowerContext,
): Promise<Completion | null> {
  const found = await postgres.pool.query<{ token: Buffer; first_block: number | null }>(
    `SELECT token, first_block FROM ${quoteIdentifier(schema)}.token_totals WHERE NOT metadata_asked
     ORDER BY first_block, first_log_idx, token LIMIT $1`,
    [TOKENS_AT_ONCE],
  )
  const unasked = found.rows.map((row) => ({
    entity: address(toHex(row.token)),
    block: row.first_block ?? 0,
  }))
  if (unasked.length === 0) return null
  const tokens = kind === 'tempo' ? unasked.filter(({ entity }) => !isTip20(entity)) : unasked
  const questions = tokens.flatMap(({ entity: to }) =>
    functions.map((ask) => ({ to, ask, gas: QUESTION_GAS_MAX })),
  )
  const answers = await readAnswers(call, questions, 'latest', signal)
  const told = tokens.map((token, index): Metadata => {
    const [name = null, symbol = null, decimals = null] = answers.slice(index * functions.length)
    return {
      ...token,
      name: readText(nameFunction, name),
      symbol: readText(symbolFunction, symbol),
      decimals: decimalsOf(decodeAnswer(decimalsFunction, decimals)),
    }
  })
  return { store: (transaction) => store(transaction, told, unasked), last: false }
}

/** `settled` are the tokens that need not be asked about again. */
async function store(
  { client, schema }: FollowerTransaction,
  told: readonly Metadata[],
  settled: readonly LoneRow[],
): Promise<void> {
  await storeOrLeaveOut({ client, schema, follower: FOLLOWER }, told, async (rows) => {
    await client.query(
      `INSERT INTO ${relationOf(schema, FOLLOWER)} (token, name, symbol, decimals)
       SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::integer[])
       ON CONFLICT (token) DO UPDATE SET name = excluded.name, symbol = excluded.symbol, decimals = excluded.decimals`,
      [
        rows.map(({ entity }) => toBytes(entity)),
        rows.map(({ name }) => name),
        rows.map(({ symbol }) => symbol),
        rows.map(({ decimals }) => decimals),
      ],
    )
  })
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.token_totals SET metadata_asked = true WHERE token = ANY ($1)`,
    [settled.map(({ entity }) => toBytes(entity))],
  )
}

/** Null where the answer is no text. */
function readText(ask: AbiFunction, answer: Hex | null): string | null {
  const told = decodeAnswer(ask, answer && withoutRest(answer))
  const text = typeof told === 'string' ? told : readShortText(answer)
  return text === null ? null : shortText(text, TEXT_CHARACTERS_MAX)
}

/** The answer with as much of its text as may be kept; none where a long one is no text. */
function withoutRest(answer: Hex): Hex {
  const bytes = (answer.length - '0x'.length) / 2
  if (bytes <= HEAD_BYTES + TEXT_BYTES_MAX) return answer
  const [start, length] = [0, 32].map((at) => BigInt(`0x${answer.slice(2 + 2 * at, 2 + 2 * (at + 32))}`))
  if (start !== 32n || length === undefined || length > bytes - HEAD_BYTES) return '0x'
  const kept = length < TEXT_BYTES_MAX ? Number(length) : TEXT_BYTES_MAX
  const text = answer.slice(2 + 2 * HEAD_BYTES, 2 + 2 * (HEAD_BYTES + kept))
  return concatHex([numberToHex(32, { size: 32 }), numberToHex(kept, { size: 32 }), `0x${text}`])
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
