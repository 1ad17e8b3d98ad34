/** Rows beside transfers that a database may have forgotten: spends, debts of a payer, and what pays them. */
import type { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

type Address = `0x${string}`

const bytes = (text: Address) => Buffer.from(text.slice(2), 'hex')

export interface SpendTerms {
  readonly chainId: number
  /** In the smallest units of the currency. */
  readonly amount: bigint
  readonly recipient: Address
  readonly payer: Address
  readonly currency: Address
}

/** Two spends of the same terms: one with a transaction that no block has, one that is only reserved. */
export async function insertSpends(app: AppDatabase, terms: SpendTerms): Promise<void> {
  const { chainId, amount, recipient, payer, currency } = terms
  const spend = {
    ...{ job_id: 'job', service_id: 's', protocol: 'mpp', chain_id: chainId, day: '2026-11-29', units: 7n },
    ...{ amount, recipient: bytes(recipient), payer: bytes(payer) },
    ...{ attempt: 1, currency: bytes(currency) },
  }
  const sent = {
    ...{ state: 'sending', reference: bytes(`0x${'ab'.repeat(32)}`), tx_hash: bytes(`0x${'ab'.repeat(32)}`) },
    valid_before: new Date(),
  }
  await app
    .insertInto('app.spends')
    .values({ ...spend, ...sent, id: 'spd_sent', node_id: 'sent' })
    .execute()
  await app
    .insertInto('app.spends')
    .values({ ...spend, id: 'spd_reserved', node_id: 'reserved' })
    .execute()
}

/** The transfers to a payer, and the debts they may have paid, are a month old and have waited for others. */
export async function ageDebtsOf(app: AppDatabase, payer: Address): Promise<void> {
  const past = new Date(Date.now() - 30 * 24 * 3_600_000)
  const recipient = bytes(payer)
  await app
    .updateTable('app.forgotten_outflows')
    .set({ noted_at: past })
    .where('recipient', '=', recipient)
    .execute()
  await app
    .updateTable('app.payouts')
    .set({ queued_at: past, collect_until: past })
    .where('recipient', '=', recipient)
    .execute()
}

/** Pays until nothing is due: what waits for others waits for a day. */
export async function payOutAll(
  app: AppDatabase,
  chain: PayoutChain,
  finalize: () => Promise<unknown>,
): Promise<void> {
  const payouts = new Payouts({
    ...{ app, chain, budgetOf: () => 10n ** 9n, mayPay: () => true },
    ...{ runtime: systemRuntime(), log: silentLogger },
  })
  for (let turns = 0; turns < 20; turns++) {
    await payouts.turn()
    await finalize()
    const soon = new Date(Date.now() + 3_600_000)
    await app
      .updateTable('app.payouts')
      .set({ held_until: new Date(0) })
      .where('held_until', '<', soon)
      .where('state', 'in', ['queued', 'sending'])
      .execute()
  }
}
