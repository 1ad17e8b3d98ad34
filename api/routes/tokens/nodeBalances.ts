/** Balances of an address from the node, while ours are not ready. */

import type { ListPage } from '#http/request/pagination.ts'
import { type Address, address } from '#primitives.ts'
import type { TokenChoice } from '#store/follow/balances/compileBalances.ts'
import type { BalanceRow } from '#store/read/balances.ts'
import { isTip20 } from '#transform/addresses.ts'
import type { NodeReader } from '../../services.ts'

/** Tokens asked about in one request. */
const TOKENS_MAX = 100

/**
 * The holder's balances now of the tokens a request names, largest first. Null when that would not be the
 * whole list: the request names none (a node cannot tell which tokens an account has), the page is not the
 * only one, or a token gives no answer.
 * @throws a MillraceError with remedy `retry` when no node answers; ApiError `overloaded`
 */
export async function readNodeBalances(
  node: NodeReader,
  holder: Address,
  choice: TokenChoice,
  page: ListPage,
  party: string,
): Promise<readonly BalanceRow[] | null> {
  const tokens = namedTokens(choice)
  if (tokens === null || page.position || page.offset > 0) return null
  const balances = await node.balances(holder, tokens, party, page.signal)
  const rows: BalanceRow[] = []
  for (const [index, token] of tokens.entries()) {
    const balance = balances[index]
    if (balance === null || balance === undefined) return null
    if (balance > 0n) rows.push({ address: token, balance, approximate: false })
  }
  return rows.length > page.limit ? null : rows.sort(byBalance)
}

function namedTokens({ only, without = [], tip20 }: TokenChoice): readonly Address[] | null {
  const tokens = only?.map((token) => address(token))
  const named = tokens?.filter((token) => isTip20(token) === tip20 && !without.includes(token))
  return named && named.length <= TOKENS_MAX ? named : null
}

const byBalance = (a: BalanceRow, b: BalanceRow): number => {
  if (a.balance !== b.balance) return a.balance > b.balance ? -1 : 1
  return a.address < b.address ? -1 : 1
}
