/** native:transfer: a movement of the chain's own coin, internal ones too where it logs them. */
import { isoSeconds } from '#http/schema.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { type EventFields, exactly, formsOf, readFields } from '../filters/eventFilter.ts'
import { address } from '../filters/operators.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

type Transfer = StoredRow<'native_transfers'>

const fields: EventFields<Transfer> = {
  recipient: exactly(address, ({ to }) => [to], 'recipient'),
  sender: exactly(address, ({ from }) => [from], 'sender'),
  address: exactly(address, ({ from, to }) => [from, to], 'address'),
}

export const nativeTransfer = defineEventType<Transfer>({
  type: 'native:transfer',
  description:
    'A transfer of the native coin, where a chain has one: each that it logs (EIP-7708), internal ones too; before it logs them, the value of a transaction that succeeded. `address` is null: the coin is no token.',
  stream: 'blocks',
  table: 'native_transfers',
  needsFilters: false,
  isExtension: true,
  filterForms: formsOf(fields),
  read: (filters) => ({
    filter: readFields(fields, filters),
    form: 'native',
    needs: nothingNeeded,
    data: (row) => ({
      address: null,
      amount: `${row.amount}`,
      sender: row.from,
      recipient: row.to,
      blockNumber: Number(row.block_num),
      timestamp: isoSeconds(row.block_timestamp),
      transactionHash: row.tx_hash,
      logIndex: row.is_logged ? row.log_idx : null,
    }),
  }),
  eventsOf: ({ native_transfers: rows }) => rows,
  // A transaction without logs of the coin has one movement; another one's log may have its index.
  placeOf: (row) =>
    row.is_logged
      ? { blockNumber: Number(row.block_num), index: row.log_idx }
      : { blockNumber: Number(row.block_num), index: row.tx_idx, kind: 'value' },
})
