/** The wallets of the browser, what they can pay a quoted plan by, and a purchase that goes on. */
import { DECIMALS, type PayableOffer } from '../../job/offers.ts'
import type { Purchase } from '../../job/purchases.ts'
import { decimalOf } from '../../model/decimal.ts'
import { toFragment } from '../../model/link.ts'
import { isObject } from '../../model/queryAnswer.ts'
import { dangerButton, form } from '../account/parts.ts'
import { button, element } from '../element.ts'
import { fact } from '../parts/fact.ts'
import { followWallets, isRejection, type Wallet } from '../parts/wallet.ts'
import { Buying, type Quoted } from './Buying.ts'

const ways = {
  transfer: 'By a transfer that your wallet sends, and whose fee it pays.',
  authorization: 'By a signature: the transfer is sent for you, and costs no fee.',
} as const satisfies Readonly<Record<PayableOffer['kind'], string>>

const PAID_TWICE =
  'Pay anew only if your wallet shows that nothing was sent, or the program takes it no more: otherwise it is paid twice. Pay anew?'

export class WalletView {
  readonly host = element('section', { class: 'wallets', 'aria-label': 'Buy with a wallet', hidden: true })
  readonly #wallets = element('div', { class: 'row' })
  readonly #shown = element('div', { class: 'offers' })
  readonly #status = element('p', { class: 'meaning', role: 'status' })
  readonly #buying: Buying
  readonly #linkOf: (jobId: string) => string
  readonly #renew: () => void
  readonly #leaving = new AbortController()
  readonly #unfollow: () => void
  #found: readonly Wallet[] = []
  /** One payment at a time, whichever button is pressed. */
  #isBusy = false

  /** @param renew the purchase that is forgotten is followed by one of another key */
  constructor(quoted: Quoted, chainId: () => number | null, renew: () => void) {
    this.#renew = renew
    this.#linkOf = (job) => toFragment({ page: 'job', chainId: chainId(), fields: { job } })
    const tell = (text: string) => {
      this.#status.textContent = text
    }
    this.#buying = new Buying(quoted, tell, this.#leaving.signal)
    this.host.append(this.#wallets, this.#shown, this.#status)
    this.#unfollow = followWallets((wallets) => {
      this.#found = wallets
      this.#draw()
    })
  }

  /** A payment that was made goes on where the plan is quoted again. */
  end(): void {
    this.#unfollow()
    this.#leaving.abort()
  }

  #draw(): void {
    const { held } = this.#buying
    this.host.hidden = this.#found.length === 0
    if (held?.jobId) this.#drawBought(held.jobId)
    else if (held) this.#drawHeld(held)
    else
      this.#wallets.replaceChildren(
        ...this.#found.map((wallet) => form(`Buy with ${wallet.name}`, () => this.#ask(wallet))),
      )
  }

  #drawHeld(held: Purchase): void {
    this.#shown.replaceChildren()
    this.#wallets.replaceChildren(
      element('p', { class: 'meaning' }, heldText(held)),
      ...this.#found.map(({ name, provider }) =>
        form(`Go on with ${name}`, () => this.#go(() => this.#buying.goOn(provider))),
      ),
      dangerButton('Pay anew', PAID_TWICE, async () => this.#forget()),
    )
  }

  #drawBought(jobId: string): void {
    this.#shown.replaceChildren()
    const href = this.#linkOf(jobId)
    const bought = element('p', {}, 'Bought in this browser: ', element('a', { href }, 'its job'), '.')
    const again = button('Buy it again', () => this.#forget(), { class: 'quiet' })
    this.#wallets.replaceChildren(bought, again)
  }

  #forget(): void {
    this.#buying.forget()
    this.#renew()
  }

  /** Shows what is asked; nothing is paid yet. */
  async #ask(wallet: Wallet): Promise<void> {
    this.#shown.replaceChildren()
    this.#status.replaceChildren()
    const answer = await this.#buying.offers()
    if (answer.kind === 'ordered') return this.#open(answer.jobId)
    const payable = answer.offers.filter((offer) => this.#buying.isWithinQuote(offer))
    if (answer.offers.length === 0)
      throw new Error('Nothing is asked for that a wallet of a browser can pay: use the command.')
    if (payable.length === 0) throw new Error('The price is above the quote. Nothing was paid.')
    this.#shown.replaceChildren(...payable.map((offer) => this.#offerCard(offer, wallet)))
  }

  #offerCard(offer: PayableOffer, { provider }: Wallet): HTMLElement {
    const amount = `${decimalOf(offer.units, DECIMALS)} USD`
    return element(
      'section',
      { class: 'offer', 'aria-label': `${amount} on chain ${offer.chainId}` },
      element(
        'dl',
        { class: 'facts' },
        fact('Amount', amount, ways[offer.kind]),
        fact('Token', offer.token, `on chain ${offer.chainId}`),
        fact('Receiver', offer.recipient, ''),
      ),
      form(`Pay ${amount}`, () => this.#go(() => this.#buying.pay(provider, offer))),
    )
  }

  /** Errors stand below all of it, as the button that was pressed may go. */
  async #go(paying: () => Promise<string>): Promise<void> {
    if (this.#isBusy) throw new Error('A payment is under way.')
    this.#isBusy = true
    this.#status.replaceChildren()
    try {
      this.#open(await paying())
    } catch (error) {
      this.#status.textContent = isRejection(error)
        ? 'Rejected in the wallet. Nothing was paid.'
        : messageOf(error)
    } finally {
      this.#isBusy = false
      this.#draw()
    }
  }

  #open(jobId: string): void {
    location.hash = this.#linkOf(jobId)
  }
}

/** Wallets throw objects that are no errors. */
const messageOf = (thrown: unknown): string =>
  isObject(thrown) ? String(thrown['message'] ?? 'The wallet failed.') : String(thrown)

function heldText({ payment }: Purchase): string {
  const hash = payment?.kind === 'transfer' ? payment.hash : null
  const paid = hash === null ? 'A payment for this plan' : `The transfer ${hash} for this plan`
  return `${paid} was begun in this browser, and its job is not known yet: go on with it.`
}
