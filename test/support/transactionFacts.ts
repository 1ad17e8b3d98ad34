/**
 * Transactions as projections and activities see them: made by hand, or taken from recorded answers
 * without our decoder.
 */
import { encodeAbiParameters } from 'viem'
import { type Address, address, type Hash, type Hex, hash } from '#primitives.ts'
import { feeManagerAddress } from '#transform/addresses.ts'
import type { ContractEvent } from '#transform/events/event.ts'
import { elementarySource } from '#transform/events/eventValue.ts'
import type { LogFacts, Projection, RowSinks, TransactionFacts } from '#transform/projection.ts'
import type { Row, TableName } from '#transform/tables.ts'
import type { RecordedBlock } from '../chain/recordings.ts'

/** An address that is easy to tell: 0xaa…aa. */
export const account = (digit: string): Address => address(`0x${digit.repeat(40)}`)

/** A standard token's address. */
export const tip20 = (digit: string): Address => address(`0x20c000000000000000000000${digit.repeat(16)}`)

/** Logs in a row, numbered from 10 on. */
export function numbered(...logs: readonly LogFacts[]): readonly LogFacts[] {
  return logs.map((log, index) => ({ ...log, logIndex: 10 + index }))
}

/** A log of a declared event; `numbered` gives it its place. */
export function logOf<Args extends object>(
  event: ContractEvent<string, Args>,
  emitter: Address,
  args: Args,
): LogFacts {
  const values: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(args))
  const pairs = event.abi.inputs.map((input) => ({ input, value: values[input.name ?? ''] }))
  const indexed = pairs.filter(({ input }) => input.indexed === true)
  const inData = pairs.filter(({ input }) => input.indexed !== true)
  const topics = indexed.map(({ input, value }) =>
    elementarySource(input.type) === null ? hash(String(value)) : hash(encodeAbiParameters([input], [value])),
  )
  const data = encodeAbiParameters(
    inData.map(({ input }) => input),
    inData.map(({ value }) => value),
  )
  return { address: emitter, topics: [event.topic0, ...topics], data, logIndex: 0, isVirtualForward: false }
}

/** A successful transaction from 0xaa…aa to 0xbb…bb. */
export function transactionFacts(facts: Partial<TransactionFacts> = {}): TransactionFacts {
  return {
    profile: { chainId: 4217, kind: 'tempo', headerRule: 'tempo', checks: 'roots' },
    block: { number: 7, hash: hash(`0x${'7'.repeat(64)}`), timestampSeconds: 1_767_225_600 },
    txIndex: 3,
    txHash: hash(`0x${'3'.repeat(64)}`),
    type: 0x76,
    from: account('a'),
    to: account('b'),
    contractAddress: null,
    status: 1,
    paid: 0n,
    logsBefore: 10,
    feePayer: account('a'),
    paidFeeToken: null,
    feeLogIndex: null,
    logs: [],
    ...facts,
  }
}

/** Rows a projection derives, by table. */
export type Rows = { [Name in TableName]?: Row<Name>[] }

export function project(projection: Projection, transactions: readonly TransactionFacts[]): Rows {
  const rows: Rows = {}
  const sinks = Object.fromEntries(
    projection.tables.map((name) => {
      const list: unknown[] = []
      Object.assign(rows, { [name]: list })
      return [name, { append: (row: unknown) => list.push(row) }]
    }),
  ) as unknown as RowSinks
  for (const tx of transactions) projection.project(tx, sinks)
  return rows
}

interface RecordedReceipt {
  readonly transactionHash: Hash
  readonly type: Hex
  readonly from: Address
  readonly to: Address | null
  readonly contractAddress: Address | null
  readonly status: Hex
  readonly logs: readonly {
    readonly address: Address
    readonly topics: readonly Hash[]
    readonly data: Hex
    readonly logIndex: Hex
  }[]
}

/** The transactions of a recorded block of the dev chain. */
export function recordedFacts(recorded: RecordedBlock): readonly TransactionFacts[] {
  const block = recorded.block as { readonly number: Hex; readonly hash: Hash; readonly timestamp: Hex }
  const receipts = recorded.receipts as readonly RecordedReceipt[]
  return receipts.map((receipt, txIndex) => {
    const logs = receipt.logs.map((log) => ({
      ...log,
      logIndex: Number(log.logIndex),
      isVirtualForward: false,
    }))
    const last = logs.at(-1)
    const isFee = last?.topics[2]?.endsWith(feeManagerAddress.slice(2)) === true
    return transactionFacts({
      block: { number: Number(block.number), hash: block.hash, timestampSeconds: Number(block.timestamp) },
      txIndex,
      txHash: receipt.transactionHash,
      type: Number(receipt.type),
      from: receipt.from,
      to: receipt.to,
      contractAddress: receipt.contractAddress,
      status: receipt.status === '0x1' ? 1 : 0,
      feePayer: isFee ? address(`0x${last?.topics[1]?.slice(26)}`) : receipt.from,
      paidFeeToken: isFee ? (last?.address ?? null) : null,
      feeLogIndex: isFee ? (last?.logIndex ?? null) : null,
      logs,
    })
  })
}
