/** Logs, names and answers by which a token's owner could hold up its projections. */
import { encodeAbiParameters, encodeEventTopics, type Hex, pad, parseAbi, toFunctionSelector } from 'viem'
import type { RpcCall } from '#ingest/rpc/client/client.ts'
import { RpcError, SourceError } from '#ingest/rpc/client/errors.ts'
import type { Reducer } from '#store/follow/fold.ts'
import { toBytes } from '#store/sql.ts'
import type { WrittenLog } from '../../../api/support/writtenChain.ts'
import { genesisTokens } from '../../support/balanceOracle.ts'
import type { ChainStore } from '../../support/chainStore.ts'

const abi = parseAbi([
  'event RoleMembershipUpdated(bytes32 indexed role, address indexed account, address indexed sender, bool hasRole)',
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  'event LogoURIUpdated(address indexed updater, string newLogoURI)',
])
const factory = '0x20fc000000000000000000000000000000000000'
export const token = '0x20c0000000000000000000001234567890abcdef'
export const longToken = '0x20c0000000000000000000001234567890abcdee'
export const ofToken = (address: Hex): string => `token = '\\x${address.slice(2)}'`
const sender = pad('0x05', { size: 20 })
/** The account of that number. */
export const account = (nth: number): Hex => pad(`0x${nth.toString(16)}`, { size: 20 })

export const granted = (nth: number, hasRole: boolean): WrittenLog => ({
  address: token,
  topics: encodeEventTopics({
    abi,
    eventName: 'RoleMembershipUpdated',
    args: { role: pad('0x', { size: 32 }), account: account(nth), sender },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'bool' }], [hasRole]),
})

export const created = (address: Hex, name: string, symbol: string): WrittenLog => ({
  address: factory,
  topics: encodeEventTopics({ abi, eventName: 'TokenCreated', args: { token: address } }) as Hex[],
  data: encodeAbiParameters(
    [...['string', 'string', 'string', 'address', 'address', 'bytes32'].map((type) => ({ type }))],
    [name, symbol, 'USD', genesisTokens[0], account(1), pad('0x', { size: 32 })],
  ),
})

export const logo = (uri: string): WrittenLog => ({
  address: longToken,
  topics: encodeEventTopics({ abi, eventName: 'LogoURIUpdated', args: { updater: sender } }) as Hex[],
  data: encodeAbiParameters([{ type: 'string' }], [uri]),
})

/** A reducer that some names break: one in Postgres, one before. */
export function poisoning<State>(of: Reducer<State>): Reducer<State> {
  return {
    ...of,
    reduce: (state, args, place) => {
      const { name } = Object(args)
      if (name === 'WORSE') throw new RangeError('Invalid string length')
      return { ...of.reduce(state, args, place), ...(name === 'BAD' && { name: 'a\0b' }) }
    },
  }
}

/** Answers of so many bytes in one request are refused, as the RPC client refuses them. */
const ANSWER_BYTES_MAX = 16 << 20

/** A node whose tokens have such names. */
export function nodeOf(nameOf: (token: unknown) => string) {
  let sent = 0
  const asks = toFunctionSelector('name()')
  // A name of a MiB takes a second to encode.
  const encoded = new Map<string, Hex>()
  const encode = (name: string): Hex => {
    const held = encoded.get(name) ?? encodeAbiParameters([{ type: 'string' }], [name])
    encoded.set(name, held)
    return held
  }
  return {
    sentBytes: () => sent,
    callAll: async (calls: readonly RpcCall[]) => {
      const answers = calls.map(({ params: [asked] }) => {
        const { to, data } = Object(asked)
        return data === asks ? encode(nameOf(to)) : null
      })
      const bytes = answers.reduce((sum, answer) => sum + (answer?.length ?? 0), 0)
      sent += Math.min(bytes, ANSWER_BYTES_MAX)
      if (bytes > ANSWER_BYTES_MAX)
        throw new SourceError('calls', 1, new RpcError('too_large', 'node', 'the answer is too long'))
      return answers
    },
  }
}

const FIRST_LOG = 1_000

/** One transfer of each token in the block, behind the recording's own logs. */
export async function moveTokens(store: ChainStore, block: number, tokens: readonly Hex[]): Promise<void> {
  await store.postgres.pool.query(
    `INSERT INTO ${store.schema}.token_transfers
       (block_num, log_idx, block_timestamp, tx_idx, tx_hash, token, "from", "to", is_fee, is_virtual_forward, amount)
     SELECT $1, ${FIRST_LOG} - 1 + nth, now(), 0, sha256(''), token, $3, $4, false, false, 5
     FROM unnest($2::bytea[]) WITH ORDINALITY AS moved (token, nth)`,
    [block, tokens.map(toBytes), toBytes(pad('0x', { size: 20 })), toBytes(sender)],
  )
}
