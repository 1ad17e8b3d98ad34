/**
 * Transactions of raw receipts with the events activities are named after, decoded by viem and its
 * own ABIs.
 */
import {
  type Abi,
  type AbiEvent,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  parseAbi,
  toEventSelector,
} from 'viem'
import { Abis } from 'viem/tempo'
import type { RecordedBlock } from '../../../chain/recordings.ts'
import type { RpcObject } from '../../support/oracle.ts'

export interface OracleLog {
  readonly address: string
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: number
}

export interface ActivityTx {
  readonly hash: string
  readonly from: string
  readonly feePayer: string
  readonly blockNumber: number
  readonly timestamp: string
  /** The transaction's own payment of the chain's coin, and its receiver; null if it paid nothing. */
  readonly value: { readonly to: string; readonly amount: bigint } | null
  /** All of them. */
  readonly logs: readonly OracleLog[]
  /** The closing fee transfer's, or null. */
  readonly feeLogIndex: number | null
  readonly events: readonly Decoded[]
}

/** A log that is an event we name activities after; the fee is none. */
export interface Decoded {
  readonly name: string
  readonly log: OracleLog
  readonly args: Args
}

// biome-ignore lint/suspicious/noExplicitAny: arguments of any event
export type Args = Readonly<Record<string, any>>

export const dex = '0xdec0000000000000000000000000000000000000'
export const feeManager = '0xfeec000000000000000000000000000000000000'
export const reserve = '0x4d50500000000000000000000000000000000000'

interface Contract {
  readonly abi: Abi
  /** The address of the contract; for one that lives anywhere, an example. */
  readonly emitter: Hex
  from(emitter: string): boolean
}

/** How viem decodes the events of each contract. */
export const contracts: Readonly<Record<string, Contract>> = {
  erc20: anywhere(
    parseAbi([
      'event Transfer(address indexed from, address indexed to, uint256 amount)',
      'event Approval(address indexed owner, address indexed spender, uint256 amount)',
    ]),
  ),
  tip20: {
    abi: Abis.tip20,
    emitter: `0x20c000000000000000000000${'3'.repeat(16)}`,
    from: (emitter) => emitter.startsWith('0x20c000000000000000000000'),
  },
  factory: at('0x20fc000000000000000000000000000000000000', Abis.tip20Factory),
  feeManager: at(feeManager, Abis.feeManager),
  feeAmm: at(feeManager, Abis.feeAmm),
  dex: at(dex, Abis.stablecoinDex),
  keychain: at('0xaaaaaaaa00000000000000000000000000000000', Abis.accountKeychain),
  nonce: at('0x4e4f4e4345000000000000000000000000000000', Abis.nonce),
  registry: at('0xfdc0000000000000000000000000000000000000', Abis.addressRegistry),
  policies: at('0x403c000000000000000000000000000000000000', Abis.tip403Registry),
  reserve: at(reserve, Abis.tip20ChannelReserve),
  validators: at('0xcccccccc00000000000000000000000000000001', Abis.validatorConfigV2),
  vault: anywhere(Abis.earnVault),
  router: anywhere(Abis.earnRouter),
}

function at(address: Hex, abi: Abi): Contract {
  return { abi, emitter: address, from: (emitter) => emitter === address }
}

function anywhere(abi: Abi): Contract {
  return { abi, emitter: `0x${'e'.repeat(40)}`, from: () => true }
}

/** Every transaction of the blocks, ascending. */
export function readActivityTxs(blocks: readonly RecordedBlock[]): readonly ActivityTx[] {
  return blocks.flatMap(({ block, receipts }) => {
    const { number, timestamp, transactions } = block as RpcObject
    return (receipts as RpcObject[]).map((receipt, index) => {
      const logs: OracleLog[] = receipt['logs'].map((log: RpcObject) => ({
        address: log['address'],
        topics: log['topics'],
        data: log['data'],
        logIndex: Number(log['logIndex']),
      }))
      const last = logs.at(-1)
      const fee =
        last &&
        decode([last]).find(({ name, args }) => name === 'erc20.Transfer' && args['to'] === feeManager)
      const own = fee ? logs.slice(0, -1) : logs
      return {
        hash: receipt['transactionHash'],
        from: receipt['from'],
        feePayer: fee ? fee.args['from'] : receipt['from'],
        blockNumber: Number(number),
        timestamp: `${new Date(Number(timestamp) * 1000).toISOString().slice(0, 19)}Z`,
        value: paidBy(transactions[index], receipt),
        logs,
        feeLogIndex: fee ? fee.log.logIndex : null,
        events: decode(own),
      }
    })
  })
}

function paidBy(tx: RpcObject, receipt: RpcObject): ActivityTx['value'] {
  const amount = BigInt(tx['value'] ?? 0)
  if (amount === 0n || receipt['status'] !== '0x1') return null
  return { to: tx['to'] ?? receipt['contractAddress'], amount }
}

/** Every event of the contracts, by its topic. */
const events = Map.groupBy(
  Object.entries(contracts).flatMap(([contract, { abi, from }]) =>
    abi
      .filter((item): item is AbiEvent => item.type === 'event')
      .map((event) => ({ name: `${contract}.${event.name}`, event, from, topic: toEventSelector(event) })),
  ),
  ({ topic }) => topic,
)

function decode(logs: readonly OracleLog[]): Decoded[] {
  return logs.flatMap((log) =>
    (events.get(log.topics[0] ?? '0x') ?? []).flatMap(({ name, event, from }) => {
      const args = from(log.address) ? argsOf(event, log) : null
      return args ? [{ name, log, args }] : []
    }),
  )
}

/**
 * Null for a log that is another event of the same topic. viem reads addresses out of any 32 bytes
 * and overlooks what follows the data; a contract that emits such means something else.
 */
function argsOf(event: AbiEvent, { topics, data }: OracleLog): Args | null {
  try {
    const [topic = '0x', ...rest] = topics
    const { args } = decodeEventLog({ abi: [event], topics: [topic, ...rest], data, strict: true })
    const values = Object.entries(args ?? {}).map(([name, value]) => [name, lower(value)])
    const found: Args = Object.fromEntries(values)
    return isCanonical(event, found, topics, data) ? withTexts(found) : null
  } catch {
    return null
  }
}

function isCanonical(event: AbiEvent, args: Args, topics: readonly Hex[], data: Hex): boolean {
  const inData = event.inputs.filter(({ indexed }) => !indexed)
  const encoded = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name ?? '']),
  )
  return encoded === data && `${encodeEventTopics({ abi: [event], args })}` === `${topics}`
}

/** Texts with NUL are their leading ASCII letters, and the bytes of the rest spelled out. */
const withTexts = (args: Args): Args =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, spelledOut(value)]))

function spelledOut(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\0')) return value
  const end = [...value].findIndex((letter) => letter === '\0' || letter > '\x7f')
  return `${value.slice(0, end)}\ufffd0x${Buffer.from(value.slice(end)).toString('hex')}`
}

/** Addresses come with a checksum. */
const lower = (value: unknown): unknown =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : value
