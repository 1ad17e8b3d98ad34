/** Relations that follow from transfers: balances, holders, supply, activity by day. */
import { receivePolicyGuardAddress, zeroAddress } from '#transform/addresses.ts'
import { type DerivedRelation, described } from './derivedRelation.ts'
import { carrySoFar, exactSum, isPositive, wrappedSums } from './exactSums.ts'

const token = ['bytes', 'token contract'] as const
const holder = ['bytes', 'account'] as const
const balance = [
  'numeric',
  'in the token’s smallest unit: all it received less all it sent; rows above zero only',
] as const

const approximate = [
  'bool',
  'true: its transfers once summed up to less than nothing, after some log, so it had some that no log tells of (genesis, a token that changes balances by itself)',
] as const

const bytes = (hex: string): string => `unhex('${hex.slice(2)}')`
const zero = bytes(zeroAddress)

/**
 * Sums up to each log beside the deltas: sorted as they are stored, and left out by the engine
 * where nobody asks for the mark.
 */
const soFarSql = (deltas: string): string =>
  `SELECT token, holder, leg, balance_delta, ${carrySoFar('balance_delta', 'leg', 'PARTITION BY token, holder ORDER BY block_num, log_idx')} AS so_far FROM ${deltas}`

const balancesSql = (deltas: string): string =>
  `SELECT token, holder, ${exactSum} AS balance, lowest < 0 AS approximate FROM ` +
  `(SELECT token, holder, ${wrappedSums('balance_delta', 'leg')}, min(so_far) AS lowest FROM (${soFarSql(deltas)}) GROUP BY token, holder) WHERE ${isPositive}`

export const balanceRelations: readonly DerivedRelation[] = [
  {
    name: 'token_balances',
    blockColumn: null,
    comment: 'what an account holds of a token, by token',
    columns: described({ token, holder, balance, approximate }),
    derive: (rowsOf) => balancesSql(rowsOf('token_holder_deltas')),
  },
  {
    name: 'address_balances',
    blockColumn: null,
    comment: 'what an account holds of a token, by account',
    columns: described({ holder, token, balance, approximate }),
    derive: (rowsOf) => balancesSql(rowsOf('address_holder_deltas')),
  },
  {
    name: 'token_holder_counts',
    blockColumn: null,
    comment: 'how many accounts hold a token',
    columns: described({
      token,
      holder_count: [
        'bigint',
        'accounts with a balance above zero; the receive-policy guard, which keeps for others, is none',
      ],
    }),
    derive: (rowsOf) =>
      `SELECT token, countIf(holder != ${bytes(receivePolicyGuardAddress)}) AS holder_count ` +
      `FROM (${balancesSql(rowsOf('token_holder_deltas'))}) GROUP BY token`,
  },
  {
    name: 'token_supply',
    blockColumn: null,
    comment: 'how much of a token exists',
    columns: described({
      token,
      supply: ['numeric', 'transfers from the zero address less transfers to it; rows above zero only'],
    }),
    derive: (rowsOf) =>
      `SELECT token, ${exactSum} AS supply FROM (SELECT token, ${wrappedSums('amount', `(\`from\` = ${zero}) - (\`to\` = ${zero})`)} ` +
      `FROM ${rowsOf('token_transfers')} WHERE \`from\` = ${zero} OR \`to\` = ${zero} GROUP BY token) WHERE ${isPositive}`,
  },
  {
    name: 'token_metadata',
    blockColumn: null,
    comment: 'when a token was seen moving',
    columns: described({
      token,
      first_seen_block: ['bigint', 'height of its first transfer'],
      last_seen_block: ['bigint', 'height of its newest transfer'],
      first_seen_timestamp: ['timestamp', 'time of its first transfer'],
      last_seen_timestamp: ['timestamp', 'time of its newest transfer'],
      transfer_count: ['bigint', 'transfers'],
    }),
    derive: (rowsOf) =>
      'SELECT token, min(block_num) AS first_seen_block, max(block_num) AS last_seen_block, ' +
      'min(block_timestamp) AS first_seen_timestamp, max(block_timestamp) AS last_seen_timestamp, ' +
      `count() AS transfer_count FROM ${rowsOf('token_transfers')} GROUP BY token`,
  },
  {
    name: 'token_transfer_stats',
    blockColumn: null,
    comment: 'a token’s transfers of one UTC day',
    columns: described({
      day: ['date', 'day in UTC'],
      token,
      transfer_count: ['bigint', 'transfers'],
      volume: ['numeric', 'sum of the amounts; 2^256-1 where it is more'],
      unique_senders: ['bigint', 'accounts that sent, the zero address of mints included'],
      unique_recipients: ['bigint', 'accounts that received, the zero address of burns included'],
    }),
    derive: (rowsOf) =>
      `SELECT day, token, transfer_count, ${exactSum} AS volume, unique_senders, unique_recipients FROM ` +
      `(SELECT toDate(block_timestamp) AS day, token, count() AS transfer_count, ${wrappedSums('amount', '1')}, ` +
      'uniqExact(`from`) AS unique_senders, uniqExact(`to`) AS unique_recipients ' +
      `FROM ${rowsOf('token_transfers')} GROUP BY day, token)`,
  },
]
