/** One busy block matched against many subscriptions, and against one. */
import type { PieceTables } from '#store/read/pieces.ts'
import { findEventType } from '#webhooks/events/index.ts'
import { type Line, measure, median } from '../harness.ts'

const SUBSCRIPTIONS = 10_000
const TRANSFERS = 2_000
const ROUNDS = 15

const account = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
const token = account(0x20c0).replace(/^0x.{4}/, '0x20c0')

function busyBlock(): PieceTables {
  const transfers = Array.from({ length: TRANSFERS }, (_, n) => ({
    ...{ block_num: 7, block_timestamp: 1_700_000_000, tx_idx: n, tx_hash: `0x${'ab'.repeat(32)}` },
    ...{ log_idx: n, token, from: account(n), to: account(1_000_000 + n), amount: BigInt(n) },
    ...{ is_fee: false, memo: null, is_virtual_forward: false },
  }))
  return {
    blocks: [],
    txs: [],
    logs: [],
    token_transfers: transfers,
    native_transfers: [],
    exchange_fills: [],
  }
}

export async function fanOutLines(): Promise<Line[]> {
  const rows = busyBlock()
  const watchOf = (count: number) =>
    findEventType('token:transfer')?.watch(
      // One of them matches, the others wait for accounts that never come.
      Array.from({ length: count }, (_, n) => ({
        subscriber: n,
        filters: { recipient: account(1_000_000 + TRANSFERS - 1 + n) },
      })),
    )
  const [one, many] = [watchOf(1), watchOf(SUBSCRIPTIONS)]
  const times: { readonly one: number[]; readonly many: number[] } = { one: [], many: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const chain = { chainId: 1, kind: 'evm' } as const
    times.one.push((await measure(() => void one?.find(rows, chain))).wallSeconds)
    times.many.push((await measure(() => void many?.find(rows, chain))).wallSeconds)
  }
  const ms = (seconds: readonly number[]) => (median(seconds) * 1_000).toFixed(2)
  return [
    {
      subject: `webhooks: a block of ${TRANSFERS} transfers, ${SUBSCRIPTIONS} subscriptions`,
      value: `${ms(times.many)} ms`,
      against: `${ms(times.one)} ms with one subscription`,
    },
  ]
}
