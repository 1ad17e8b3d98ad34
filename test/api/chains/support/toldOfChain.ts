/**
 * The facts that a chain's raw JSON tells, read by viem: rows, movements of tokens, what is held for whom.
 */
import { decodeEventLog, type Hex, parseAbi, toEventSelector } from 'viem'
import type { TempoBlock } from '../../../support/tempoBlock.ts'
import type { RpcObject } from '../../support/oracle.ts'
import { events } from '../../support/writtenBook.ts'
import { guard, holdEvents } from '../../support/writtenHolds.ts'

const holdAbi = parseAbi([holdEvents.blocked, holdEvents.claimed, holdEvents.destroyed])
const transferAbi = parseAbi([events.transfer])
const transferTopic = toEventSelector('Transfer(address,address,uint256)')

type Chain = readonly TempoBlock[]

export const txsOf = (chain: Chain) =>
  chain.flatMap(({ block }) => block.transactions as readonly RpcObject[])
export const receiptsOf = (chain: Chain) => chain.flatMap(({ receipts }) => receipts as readonly RpcObject[])
export const logsOf = (chain: Chain) =>
  receiptsOf(chain).flatMap((receipt): readonly RpcObject[] => receipt['logs'])

const numbers = (...quantities: readonly unknown[]) => quantities.map((one) => `${BigInt(String(one))}`)

/** Statements, and what they find: values as text. */
export function toldRows(chain: Chain): { readonly sql: string; readonly rows: readonly string[][] }[] {
  return [
    {
      sql: 'SELECT num, gas_used, timestamp_ms, tx_count, log_count, hash FROM blocks ORDER BY num',
      rows: chain.map((one) => [
        ...numbers(one.block['number'], one.block['gasUsed']),
        ...numbers(BigInt(String(one.block['timestamp'])) * 1_000n + 250n),
        ...numbers(one.receipts.length, logsOf([one]).length),
        one.block.hash,
      ]),
    },
    {
      sql: 'SELECT block_num, idx, nonce, gas_limit, hash, "from", nonce_key, fee_token, signature_type FROM txs ORDER BY 1, 2',
      rows: txsOf(chain).map((tx) => [
        ...numbers(tx['blockNumber'], tx['transactionIndex'], tx['nonce'], tx['gas']),
        ...[tx['hash'], tx['from'], tx['nonceKey'], tx['feeToken']],
        signatureTypeOf(tx['signature']),
      ]),
    },
    {
      sql: 'SELECT gas_used, cumulative_gas_used, fee_amount, tx_hash, fee_payer, fee_token FROM receipts ORDER BY block_num, tx_idx',
      rows: receiptsOf(chain).map((receipt) => [
        ...numbers(receipt['gasUsed'], receipt['cumulativeGasUsed'], receipt['logs'].at(-1).data),
        ...[receipt['transactionHash'], receipt['feePayer'], receipt['feeToken']],
      ]),
    },
    {
      sql: 'SELECT block_num, log_idx, address, topic0, topic1, topic2, topic3, data FROM logs ORDER BY 1, 2',
      rows: logsOf(chain).map(({ blockNumber, logIndex, address, topics, data }) => [
        ...[...numbers(blockNumber, logIndex), address],
        ...[0, 1, 2, 3].map((topic) => topics[topic] ?? 'null'),
        data,
      ]),
    },
  ]
}

/** Owners have none; all keys of the chain are of secp256k1. */
const signatureTypeOf = (signature: unknown): string =>
  typeof signature === 'string' ? 'null' : 'accessKeySignature' in Object(signature) ? '6' : '0'

/** Every movement of standard tokens, in the order of the chain. */
export const movementsOf = (chain: Chain) =>
  logsOf(chain).flatMap((log) => {
    if (!/^0x20c0/.test(log['address']) || log['topics'][0] !== transferTopic) return []
    const { args } = decodeEventLog({ abi: transferAbi, topics: log['topics'], data: log['data'] })
    const [from, to] = [args.from.toLowerCase(), args.to.toLowerCase()]
    return [{ log, token: String(log['address']), from, to, amount: args.amount }]
  })

/** Everybody's balances, by `holder token`; the zero address has the supplies, below zero. */
export function heldAfter(chain: Chain): ReadonlyMap<string, bigint> {
  const held = new Map<string, bigint>()
  const add = (key: string, amount: bigint) => held.set(key, (held.get(key) ?? 0n) + amount)
  for (const { token, from, to, amount } of movementsOf(chain)) {
    add(`${from} ${token}`, -amount)
    add(`${to} ${token}`, amount)
  }
  return held
}

/** Receiver, token and amount of what the guard holds after the last block. */
export function refusedAfter(chain: Chain): readonly (readonly string[])[] {
  const kept = new Map<string, bigint>()
  for (const log of logsOf(chain).filter(({ address }) => address === guard)) {
    const { eventName, args } = decodeEventLog({ abi: holdAbi, topics: log['topics'], data: log['data'] })
    const key = `${args.receiver.toLowerCase()} ${args.token.toLowerCase()}`
    kept.set(key, (kept.get(key) ?? 0n) + (eventName === 'TransferBlocked' ? args.amount : -args.amount))
  }
  const left = [...kept].filter(([, amount]) => amount > 0n)
  return left.map(([key, amount]) => [...key.split(' '), `${amount}`]).toSorted()
}

/** Arguments of an event as JSON has them. */
export function argsOf(event: string, topics: readonly Hex[], data: Hex): { name: string; args: unknown } {
  const abi = parseAbi([event] as never)
  const decoded: { eventName: string; args: unknown } = decodeEventLog({
    ...{ abi, data, topics: topics as [Hex, ...Hex[]] },
  } as never)
  const text = JSON.stringify(decoded.args, (_, of) => {
    if (typeof of === 'bigint' || typeof of === 'number') return String(of)
    return typeof of === 'string' ? of.toLowerCase() : of
  })
  return { name: decoded.eventName, args: JSON.parse(text) }
}
