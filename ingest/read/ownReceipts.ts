/**
 * The receipts of a block's own transactions, picked out of all that a node told beside the block by
 * their hashes: some nodes add receipts of transactions that the block does not name, repeat one, or
 * keep another order. Whether those picked are true is for the receipts root to decide.
 */
import { isRecord } from '#primitives.ts'

/** As a node answered it; either may be anything. */
interface Told {
  readonly block: unknown
  readonly receipts: unknown
}

export interface OwnReceipts {
  /** One for each transaction, in their order; as they came where they are so already, or cannot be. */
  readonly receipts: unknown
  /** Receipts left over: of no transaction of the block, or told again. */
  readonly foreign: number
  /** False where a transaction has no receipt among them. */
  readonly isWhole: boolean
}

/**
 * Only hashes are checked here. A null in the place of its transaction's receipt stays: the node was asked
 * for it by itself and has none.
 */
export function ownReceipts({ block, receipts }: Told): OwnReceipts {
  const asTold: OwnReceipts = { receipts, foreign: 0, isWhole: true }
  const hashes = hashesOf(block)
  if (hashes === null || !isListOfReceipts(receipts) || isInOrder(hashes, receipts)) return asTold
  const told = new Map<string, Receipt[]>()
  for (const receipt of receipts) {
    const hash = receipt && lowercase(receipt['transactionHash'])
    if (!receipt || hash === null) continue
    const alike = told.get(hash)
    if (alike) alike.push(receipt)
    else told.set(hash, [receipt])
  }
  const blockHash = isRecord(block) ? lowercase(block['hash']) : null
  const own = hashes.map((hash) => takeOne(told.get(hash), blockHash))
  if (!own.every((receipt) => receipt !== undefined)) return { ...asTold, isWhole: false }
  const foreign = receipts.filter((receipt) => receipt !== null).length - own.length
  return { receipts: areNumberedTogether(receipts) ? own.map(numbered()) : own, foreign, isWhole: true }
}

type Receipt = Readonly<Record<string, unknown>>

/** Hex digits are a value, in whatever case they are written. */
const lowercase = (hash: unknown): string | null => (typeof hash === 'string' ? hash.toLowerCase() : null)

function hashesOf(block: unknown): readonly string[] | null {
  const transactions = isRecord(block) ? block['transactions'] : null
  if (!Array.isArray(transactions)) return null
  const hashes: string[] = []
  for (const tx of transactions) {
    const hash = isRecord(tx) ? lowercase(tx['hash']) : null
    if (hash === null) return null
    hashes.push(hash)
  }
  return hashes
}

const isListOfReceipts = (value: unknown): value is readonly (Receipt | null)[] =>
  Array.isArray(value) && value.every((receipt) => receipt === null || isRecord(receipt))

const isInOrder = (hashes: readonly string[], receipts: readonly (Receipt | null)[]): boolean =>
  hashes.length === receipts.length &&
  receipts.every((receipt, index) => !receipt || lowercase(receipt['transactionHash']) === hashes[index])

/** The first of several that names the block: another may be of a replaced one. */
function takeOne(alike: Receipt[] | undefined, blockHash: string | null): Receipt | undefined {
  if (!alike) return undefined
  const of = alike.findIndex((receipt) => lowercase(receipt['blockHash']) === blockHash)
  return alike.splice(Math.max(of, 0), 1)[0]
}

/** Whether the node counted what the block does not name along with the block's own. */
function areNumberedTogether(receipts: readonly (Receipt | null)[]): boolean {
  let logs = 0
  return receipts.every((receipt, index) => {
    if (!receipt || !isNumber(receipt['transactionIndex'], index)) return false
    return logsOf(receipt).every((log) => isRecord(log) && isNumber(log['logIndex'], logs++))
  })
}

const isNumber = (told: unknown, value: number): boolean => typeof told === 'string' && Number(told) === value

const logsOf = ({ logs }: Receipt): readonly unknown[] => (Array.isArray(logs) ? logs : [])

/** The numbers that they have in their block, which their order proves. */
function numbered(): (receipt: Receipt, index: number) => Receipt {
  let logIndex = 0
  return (receipt, index) => {
    const transactionIndex = `0x${index.toString(16)}`
    const logs = logsOf(receipt).map((log) => ({
      ...(isRecord(log) ? log : {}),
      transactionIndex,
      logIndex: `0x${(logIndex++).toString(16)}`,
    }))
    return { ...receipt, transactionIndex, logs }
  }
}
