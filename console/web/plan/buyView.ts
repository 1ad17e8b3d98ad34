/** The ready command that buys a quoted plan, and the way to its job. */
import { buyCommand } from '../../job/commands.ts'
import { toFragment } from '../../model/link.ts'
import type { Quote } from '../../model/services.ts'
import { origin } from '../api.ts'
import { element } from '../element.ts'
import { commandBox } from '../job/copying.ts'
import { freshKey } from '../job/freshKey.ts'

export class BuyView {
  readonly #chainId: () => number | null
  /** The key of the plan that was quoted last: another key buys the same plan again. */
  #key = { planHash: '', value: '' }

  constructor(chainId: () => number | null) {
    this.#chainId = chainId
  }

  /** @param plan the text that was quoted */
  draw(plan: string, { planHash, totalAmount, currency }: Quote): HTMLElement {
    if (this.#key.planHash !== planHash) this.#key = { planHash, value: freshKey() }
    const href = toFragment({ page: 'job', chainId: this.#chainId(), fields: {} })
    return element(
      'section',
      { class: 'buy', 'aria-label': 'Buy' },
      commandBox(
        'Buy this plan',
        `Run in the folder of docs/clients.md (payer.key, mppx, RPC_URL), it pays at most ${totalAmount} ${currency}: a higher price is refused, and nothing is paid. However often it runs, it is one job.`,
        buyCommand(origin, plan, totalAmount, this.#key.value),
      ),
      element(
        'p',
        { class: 'meaning' },
        'It prints the link of the job, which the ',
        element('a', { href }, 'page Job'),
        ' follows to its end.',
      ),
    )
  }
}
