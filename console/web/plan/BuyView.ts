/** The means to buy a quoted plan: the ready command and the browser's wallets; and the way to its job. */
import { buyCommand } from '../../job/commands.ts'
import { toFragment } from '../../model/link.ts'
import type { Quote } from '../../model/services.ts'
import { origin } from '../api.ts'
import { element } from '../element.ts'
import { commandBox } from '../job/copying.ts'
import { freshKey } from '../job/freshKey.ts'
import { heldPurchase } from './heldPurchases.ts'
import { WalletView } from './WalletView.ts'

export class BuyView {
  readonly #host = element('section', { class: 'buy', 'aria-label': 'Buy' })
  readonly #chainId: () => number | null
  /** The key of the plan that was quoted last: another key buys the same plan again. */
  #key = { planHash: '', value: '' }
  #wallets: WalletView | null = null

  constructor(chainId: () => number | null) {
    this.#chainId = chainId
  }

  /** @param plan the text that was quoted */
  draw(plan: string, quote: Quote): HTMLElement {
    const { planHash, totalAmount, currency } = quote
    if (this.#key.planHash !== planHash) this.#key = { planHash, value: freshKey() }
    const key = heldPurchase(planHash)?.key ?? this.#key.value
    const renew = () => {
      this.#key = { planHash, value: freshKey() }
      this.draw(plan, quote)
    }
    this.#wallets?.end()
    this.#wallets = new WalletView({ planHash, plan, key, total: totalAmount }, this.#chainId, renew)
    const href = toFragment({ page: 'job', chainId: this.#chainId(), fields: {} })
    this.#host.replaceChildren(
      commandBox(
        'Buy this plan',
        `Run in the folder of docs/clients.md (payer.key, mppx, RPC_URL), it pays at most ${totalAmount} ${currency}: a higher price is refused, and nothing is paid. However often it runs, it is one job.`,
        buyCommand(origin, plan, totalAmount, key),
      ),
      element(
        'p',
        { class: 'meaning' },
        'It prints the link of the job, which the ',
        element('a', { href }, 'page Job'),
        ' follows to its end.',
      ),
      this.#wallets.host,
    )
    return this.#host
  }
}
