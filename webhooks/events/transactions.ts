/** transaction:included: a transaction in a block, as GET /v1/transactions/{hash} shows it. */
import { presentTransaction } from '#present/transaction.ts'
import { isRecord } from '#primitives.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import {
  callDataOf,
  conditionOn,
  type EventFields,
  type Field,
  formsOf,
  readFields,
  readOption,
  without,
} from '../filters/eventFilter.ts'
import { address, code, FiltersError, hash, oneOf, quantity, type Value } from '../filters/operators.ts'
import { defineEventType, transactionKey } from './eventType.ts'

type Row = StoredRow<'txs'>

interface Included {
  readonly row: Row
  /** Inner calls; none outside of Tempo's own type. */
  readonly calls: readonly { readonly to: string | null; readonly input: string }[]
}

const some = (value: Value | null | undefined): readonly Value[] =>
  value === null || value === undefined ? [] : [value]
const number = (value: number | bigint | null): readonly Value[] => (value === null ? [] : [BigInt(value)])
const targets = ({ calls }: Included): readonly Value[] => calls.flatMap(({ to }) => some(to))

/** `{to}`: where the inner calls go. */
const inner = conditionOn(address, targets, 'calls')
const target: Field<Included> = {
  ...inner,
  form: { kind: 'target', of: inner.form },
  read: (given, path) => {
    if (!isRecord(given) || Object.keys(given).join() !== 'to') throw new FiltersError(path, 'is not {to}')
    return inner.read(given['to'], [...path, 'to'])
  },
}

const fieldsWith = (includeCalls: boolean): EventFields<Included> => {
  const called = includeCalls ? targets : () => []
  const where = includeCalls ? 'called' : 'outer'
  return {
    hash: conditionOn(hash, ({ row }) => [row.hash], 'hash'),
    from: conditionOn(address, ({ row }) => [row.from], 'from'),
    feePayer: conditionOn(address, ({ row }) => some(row.fee_payer), 'feePayer'),
    address: conditionOn(
      address,
      (event) => [event.row.from, ...some(event.row.to), ...called(event)],
      `address ${where}`,
    ),
    to: conditionOn(address, (event) => [...some(event.row.to), ...called(event)], `to ${where}`),
    calls: target,
    input: callDataOf(({ row, calls }) => (calls.length > 0 ? calls.map(({ input }) => input) : [row.input])),
    blockNumber: conditionOn(quantity, ({ row }) => number(row.block_num), 'blockNumber'),
    nonce: conditionOn(quantity, ({ row }) => number(row.nonce)),
    nonceKey: conditionOn(code, ({ row }) => (row.nonce_key === null ? [] : [BigInt(row.nonce_key)])),
    feeToken: conditionOn(address, ({ row }) => some(row.paid_fee_token ?? row.fee_token), 'feeToken'),
    value: conditionOn(quantity, ({ row }) => number(row.value)),
    callCount: conditionOn(quantity, ({ row }) => number(row.call_count)),
    txType: conditionOn(code, ({ row }) => number(row.type)),
    gasLimit: conditionOn(quantity, ({ row }) => number(row.gas_limit)),
    gasUsed: conditionOn(quantity, ({ row }) => number(row.gas_used)),
    maxFeePerGas: conditionOn(quantity, ({ row }) => number(row.max_fee_per_gas)),
    maxPriorityFeePerGas: conditionOn(quantity, ({ row }) => number(row.max_priority_fee_per_gas)),
    validBefore: conditionOn(quantity, ({ row }) => number(row.valid_before)),
    validAfter: conditionOn(quantity, ({ row }) => number(row.valid_after)),
    timestamp: conditionOn(quantity, ({ row }) => number(row.block_timestamp)),
    status: conditionOn(oneOf('success', 'reverted'), ({ row }) =>
      row.status === null ? [] : [row.status === 1 ? 'success' : 'reverted'],
    ),
  }
}

const fields = { with: fieldsWith(true), without: fieldsWith(false) } as const

export const transactionIncluded = defineEventType<Included>({
  type: 'transaction:included',
  description: 'A transaction in a block. `includeReceipt` adds its receipt.',
  stream: 'blocks',
  table: 'txs',
  needsFilters: false,
  filterForms: {
    ...formsOf(fields.with),
    includeCalls: { kind: 'option' },
    includeReceipt: { kind: 'option' },
  },
  read: (filters) => {
    const includeCalls = readOption(filters, 'includeCalls', true)
    const receipt = readOption(filters, 'includeReceipt', false)
    return {
      filter: readFields(
        includeCalls ? fields.with : fields.without,
        without(filters, 'includeCalls', 'includeReceipt'),
      ),
      form: receipt ? 'transaction with receipt' : 'transaction',
      needs: ({ row }) => ({ transaction: { blockNumber: Number(row.block_num), index: row.idx } }),
      data: ({ row }, { transactions, chain }) => {
        const detail = transactions.get(transactionKey(Number(row.block_num), row.idx))
        if (!detail) throw new TypeError('a transaction that is needed was read')
        return presentTransaction(detail, { receipt, feeToken: undefined }, chain.chainId)
      },
    }
  },
  eventsOf: ({ txs }) => txs.map((row) => ({ row, calls: callsOf(row.calls) })),
  placeOf: ({ row }) => ({ blockNumber: Number(row.block_num), index: row.idx }),
})

/** Our own JSON of the calls: [{to, value, input}]. */
function callsOf(text: string | null): Included['calls'] {
  const calls: unknown = text === null ? [] : JSON.parse(text)
  if (!Array.isArray(calls)) return []
  return calls.filter(isRecord).map(({ to, input }) => ({
    to: typeof to === 'string' ? to.toLowerCase() : null,
    input: typeof input === 'string' ? input.toLowerCase() : '0x',
  }))
}
