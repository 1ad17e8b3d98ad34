/**
 * token:transfer: a movement of a standard token; of any ERC-20 where the chain has no standard of
 * its own.
 */
import { isoSeconds } from '#http/schema.ts'
import { address as toAddress } from '#primitives.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { isTip20 } from '#transform/addresses.ts'
import {
  type EventFields,
  exactly,
  formsOf,
  readFields,
  readOption,
  without,
} from '../filters/eventFilter.ts'
import { address } from '../filters/operators.ts'
import { defineEventType } from './eventType.ts'

type Transfer = StoredRow<'token_transfers'>

const fields: EventFields<Transfer> = {
  recipient: exactly(address, ({ to }) => [to], 'recipient'),
  sender: exactly(address, ({ from }) => [from], 'sender'),
  address: exactly(address, ({ from, to }) => [from, to], 'address'),
  token: exactly(address, ({ token }) => [token], 'token'),
}

export const tokenTransfer = defineEventType<Transfer>({
  type: 'token:transfer',
  description: 'A transfer of a token: TIP-20 on Tempo, ERC-20 elsewhere. Fees too, unless `fees` is false.',
  stream: 'blocks',
  table: 'token_transfers',
  needsFilters: false,
  filterForms: { ...formsOf(fields), fees: { kind: 'option' } },
  read: (filters) => {
    const withFees = readOption(filters, 'fees', true)
    const filter = readFields(fields, without(filters, 'fees'))
    return {
      filter: withFees ? filter : { ...filter, matches: (event) => !event.is_fee && filter.matches(event) },
      form: 'transfer',
      needs: ({ token }) => ({ token }),
      data: (row, { tokens }) => {
        const token = tokens.get(row.token)
        return {
          address: row.token,
          amount: `${row.amount}`,
          sender: row.from,
          recipient: row.to,
          blockNumber: Number(row.block_num),
          timestamp: isoSeconds(row.block_timestamp),
          transactionHash: row.tx_hash,
          ...(token && { token: { symbol: token.symbol, decimals: token.decimals } }),
        }
      },
    }
  },
  eventsOf: ({ token_transfers: rows }, { kind }) =>
    kind === 'tempo' ? rows.filter(({ token }) => isTip20(toAddress(token))) : rows,
  placeOf: (row) => ({ blockNumber: Number(row.block_num), index: row.log_idx }),
})
