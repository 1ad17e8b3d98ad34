/** Holders and balances as rows: what the oracle says, and what answers of the API say. */
import type { BalanceOracle } from '../../../store/support/balanceOracle.ts'

export const isTip20 = (token: string) => token.startsWith('0x20c000000000000000000000')

type Row = readonly [address: string, balance: bigint]

/** Most first, then by address. */
const ranked = (rows: readonly Row[]): Row[] =>
  rows
    .filter(([, balance]) => balance > 0n)
    .toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))

export const holdersOf = (oracle: BalanceOracle, token: string, block: number): Row[] =>
  ranked([...(oracle.at(block).get(token)?.holders ?? [])])

export const balancesOf = (oracle: BalanceOracle, holder: string, block: number): Row[] =>
  ranked(
    [...oracle.at(block)].flatMap(([token, { holders }]): Row[] =>
      isTip20(token) ? [[token, holders.get(holder) ?? 0n]] : [],
    ),
  )

interface HolderBody {
  readonly address: string
  readonly balance: string
}
interface BalanceBody {
  readonly id: string
  readonly amount: string
}
export const holderRows = (rows: readonly HolderBody[]): Row[] =>
  rows.map((row) => [row.address, BigInt(row.balance)])
export const balanceRows = (rows: readonly BalanceBody[]): Row[] =>
  rows.map((row) => [row.id, BigInt(row.amount)])
