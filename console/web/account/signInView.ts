/** Signing in by a wallet of the browser. */
import type { AccountClient } from '../../model/AccountClient.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { followWallets, signWith, type Wallet } from '../parts/wallet.ts'
import { form } from './parts.ts'

/** `end` stops looking for wallets. */
export function signInView(
  client: AccountClient,
  invitationId: string | null,
  signedIn: () => Promise<void>,
): { readonly view: HTMLElement; readonly end: () => void } {
  const list = element('div', { class: 'row', id: 'wallets' })
  const signIn = (wallet: Wallet) => async () => {
    const proof = await signWith(wallet, async (address, chainId) => {
      const asked = { address, chainId }
      return (await client.ask<{ readonly message: string }>('POST', 'v1/auth/siwe/challenge', asked)).message
    })
    await client.ask('POST', 'v1/auth/siwe', { ...proof, ...(invitationId !== null && { invitationId }) })
    await signedIn()
  }
  const end = followWallets((wallets) => {
    list.replaceChildren(
      ...(wallets.length > 0
        ? wallets.map((wallet) => form(`Sign in with ${wallet.name}`, signIn(wallet)))
        : [
            element(
              'p',
              { class: 'meaning' },
              'This browser has no wallet. Install one and open this page again.',
            ),
          ]),
    )
  })
  const text =
    invitationId === null
      ? 'Sign in to manage organizations and API keys. Queries you run here then count as yours.'
      : 'You are invited. Sign in to join.'
  return { view: card('Sign in', element('p', { class: 'meaning' }, text), list), end }
}
