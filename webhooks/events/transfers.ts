/** token:transfer: a movement of a standard token; of any ERC-20 where the chain has no standard of its own. */
import { address as toAddress } from '#primitives.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { isTip20 } from '#transform/addresses.ts'
import { type Fields, readFields, readOption, without } from '../filters/eventFilter.ts'
import { address, type Kind, type Value } from '../filters/operators.ts'
import { isoSeconds } from '../isoSeconds.ts'
import { defineEventType } from './eventType.ts'

type Transfer = StoredRow<'token_transfers'>

/** One address, and no operator. */
const plain = (kind: Kind, key: string, values: (event: Transfer) => readonly Value[]) => ({
  key,
  values,
  read: (given: unknown, path: readonly string[]) => {
    const wanted = kind.read(given, path)
    return { test: (found: readonly Value[]) => found.includes(wanted), keys: [wanted] }
  },
})

const fields: Fields<Transfer> = {
  recipient: plain(address, 'recipient', ({ to }) => [to]),
  sender: plain(address, 'sender', ({ from }) => [from]),
  address: plain(address, 'address', ({ from, to }) => [from, to]),
  token: plain(address, 'token', ({ token }) => [token]),
}

export const tokenTransfer = defineEventType<Transfer>({
  type: 'token:transfer',
  description: 'A transfer of a token: TIP-20 on Tempo, ERC-20 elsewhere. Fees too, unless `fees` is false.',
  stream: 'blocks',
  table: 'token_transfers',
  needsFilters: false,
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
