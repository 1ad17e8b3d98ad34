/** The catalogue of lies: what real endpoints were seen to answer, one entry each. */
import { keccak256, numberToHex, stringToHex } from 'viem'
import type { Json, JsonObject } from '../support/builtBlock.ts'
import type { Kernel } from './kernel.ts'
import type { World, WorldBlock } from './world.ts'

export const lies = [
  'L1 null for a block',
  'L2 null receipts',
  'L3 the last receipt is missing',
  'L4 another receipts root',
  'L5 no logs',
  'L6 receipts of a sibling',
  'L7 an old block from a cache',
  'L8 the head goes back',
  'L9 finality goes back',
  'L11 other log data',
  'L12 one error for a batch',
  'L12 an answer missing',
  'L12 an answer twice',
  'L12 answers in another order',
  'L13 response too large',
  'L14 cut off',
  'L14 a page instead of JSON',
  'L15 another chain id',
  'L16 malformed quantities',
  'L17 log indexes repeat',
  'L18 another bloom',
  'L20 another transaction hash or sender',
] as const

/**
 * Told by one endpoint alone: two that tell the same of them are believed, and no program could
 * know better.
 */
export const loneLies = [
  'L21 a head ahead of the chain',
  'L22 finality ahead of the chain',
  'L23 an invented header field',
  'L23 an invented transaction type',
  'L29 lists in lists',
  'L33 milliseconds of another chain',
] as const

/**
 * A lie that the only endpoint tells twice alike is taken and marked: a lie beside an honest endpoint
 * alone.
 */
export const witnessedLies = ['L24 a number no column holds'] as const

export type LoneLie = (typeof loneLies)[number] | (typeof witnessedLies)[number]
/** True of one of several nodes behind an address; told by the swarms that name them. */
export const partLies = ['L42 old blocks are pruned'] as const

export type Lie = (typeof lies)[number] | LoneLie | (typeof partLies)[number]

/**
 * How far ahead of the chain a head is said to be: a little, and as that of another chain would be.
 */
const AHEAD = [1, 5, 200, 100_000, 2 ** 40] as const

export const tellLie = {
  /** A head that is not there, under a hash of its own; the same one for the same height. */
  head(number: number): JsonObject {
    const [hash, parentHash] = [`${number}`, `${number - 1}`].map((of) => keccak256(stringToHex(of)))
    return { number: numberToHex(number), hash, parentHash, timestamp: numberToHex(1_800_000_000) }
  },

  ahead: (height: number, kernel: Kernel): number => height + kernel.pick(AHEAD),

  /** A block as it is told. */
  block(lie: Lie | undefined, block: JsonObject, kernel: Kernel): JsonObject | null {
    switch (lie) {
      case 'L1 null for a block':
        return null
      case 'L4 another receipts root':
        return { ...block, receiptsRoot: keccak256('0x0bad') }
      case 'L16 malformed quantities':
        return {
          ...block,
          ...kernel.pick([
            { gasUsed: '0x' },
            { timestamp: '0x0123' },
            { gasLimit: '21000' },
            { number: '0x1ffffffffffffff' },
          ]),
        }
      case 'L18 another bloom':
        return { ...block, logsBloom: `0x${'11'.repeat(256)}` }
      case 'L23 an invented header field':
        return { ...block, invented: '0x1', miner: `0x${'7'.repeat(40)}` }
      case 'L23 an invented transaction type':
        return {
          ...block,
          transactions: (block['transactions'] as readonly JsonObject[]).map((tx, index) =>
            index === 0 ? { ...tx, type: '0x9', value: '0x29a' } : tx,
          ),
        }
      case 'L24 a number no column holds':
        return { ...block, size: `0x${'f'.repeat(16)}` }
      case 'L29 lists in lists':
        return { ...block, unheard: nested(1_000) }
      case 'L33 milliseconds of another chain':
        return { ...block, timestampMillisPart: '0x3e7' }
      case 'L20 another transaction hash or sender': {
        const transactions = block['transactions'] as readonly JsonObject[]
        return {
          ...block,
          transactions: isSenderTold(block) ? transactions.map(stolen) : renamed(transactions),
        }
      }
      default:
        return block
    }
  },

  /** Receipts as they are told. */
  receipts(lie: Lie | undefined, block: WorldBlock, world: World, kernel: Kernel): unknown {
    const { receipts } = block
    switch (lie) {
      case 'L2 null receipts':
        return kernel.chance(0.5) ? null : receipts.map(() => null)
      case 'L3 the last receipt is missing':
        return receipts.slice(0, -1)
      case 'L5 no logs':
        return receipts.map((receipt) => ({ ...receipt, logs: [] }))
      case 'L6 receipts of a sibling':
        return siblingOf(block, world)?.receipts ?? receipts.slice(1)
      case 'L11 other log data':
        return receipts.map((receipt) =>
          withLogs(receipt, (log) => ({ ...log, data: numberToHex(666, { size: 32 }) })),
        )
      case 'L23 an invented transaction type':
        return receipts.map((receipt, index) => (index === 0 ? { ...receipt, type: '0x9' } : receipt))
      case 'L17 log indexes repeat':
        return receipts.map((receipt) => withLogs(receipt, (log) => ({ ...log, logIndex: '0x0' })))
      case 'L20 another transaction hash or sender':
        return isSenderTold(block.block) ? receipts.map(stolen) : receipts
      default:
        return receipts
    }
  },

  /** The whole response as it is told. */
  response(lie: Lie | undefined, text: string, items: readonly JsonObject[] | null, kernel: Kernel) {
    const told = (value: unknown) => ({ status: 200, text: JSON.stringify(value) })
    const error = (code: number, message: string) =>
      told({ jsonrpc: '2.0', id: null, error: { code, message } })
    switch (lie) {
      case 'L12 one error for a batch':
        return items ? error(-32603, 'internal error') : { status: 200, text }
      case 'L12 an answer missing':
        return items ? told(items.slice(1)) : { status: 200, text }
      case 'L12 an answer twice':
        return items ? told([...items.slice(1), items.at(-1)]) : { status: 200, text }
      case 'L12 answers in another order':
        return items ? told(items.toReversed()) : { status: 200, text }
      case 'L13 response too large':
        return items && items.length > 2 ? error(-32008, 'response is too big') : { status: 200, text }
      case 'L14 cut off':
        return { status: 200, text: text.slice(0, kernel.between(1, text.length - 1)) }
      case 'L14 a page instead of JSON':
        return { status: 200, text: '<!doctype html><title>Just a moment</title>' }
      default:
        return { status: 200, text }
    }
  },
}

const nested = (levels: number): Json => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

const renamed = (transactions: readonly JsonObject[]): readonly JsonObject[] =>
  transactions.map((tx, index) => (index === 0 ? { ...tx, hash: keccak256('0xdead') } : tx))

/**
 * Half of the blocks, for the lie needs no chance of its own: seeds that once found something stay
 * as they were.
 */
const isSenderTold = (block: JsonObject): boolean => Number(block['number']) % 2 === 0

/** The sender is another account, and the receipt agrees with the transaction. */
const stolen = (item: JsonObject): JsonObject => ({ ...item, from: `0x${'5'.repeat(40)}` })

function withLogs(receipt: JsonObject, change: (log: JsonObject) => JsonObject): JsonObject {
  return { ...receipt, logs: (receipt['logs'] as readonly JsonObject[]).map(change) }
}

/** Another block of the same height, as it is on a fork. */
function siblingOf(block: WorldBlock, world: World): WorldBlock | undefined {
  for (const other of world.known.values())
    if (other.ref.number === block.ref.number && other.hash !== block.hash) return other
  return undefined
}
