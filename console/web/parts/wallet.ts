/** Wallets of the browser: found by EIP-6963, asked by EIP-1193. */
import { isObject } from '../../model/queryAnswer.ts'

export interface Provider {
  request(asked: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

export interface Wallet {
  readonly name: string
  readonly provider: Provider
}

/** Wallets announce themselves, some late; each new list of them is told. Returns what ends it. */
export function followWallets(told: (wallets: readonly Wallet[]) => void): () => void {
  const announced = new Map<string, Wallet>()
  const tell = () => told(announced.size > 0 ? [...announced.values()] : injectedWallet())
  const listen = (event: Event) => {
    const { detail } = event instanceof CustomEvent ? event : { detail: null }
    if (!isObject(detail) || !isObject(detail['info']) || !isProvider(detail['provider'])) return
    const { uuid, name } = detail['info']
    announced.set(String(uuid), { name: String(name), provider: detail['provider'] })
    tell()
  }
  window.addEventListener('eip6963:announceProvider', listen)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  tell()
  return () => window.removeEventListener('eip6963:announceProvider', listen)
}

/** The account that the wallet gives, and its signature of what `messageFor` says. */
export async function signWith(
  { provider }: Wallet,
  messageFor: (account: string, chainId: number) => Promise<string>,
): Promise<{ readonly address: string; readonly message: string; readonly signature: string }> {
  const address = await accountOf(provider)
  const chainId = Number(await provider.request({ method: 'eth_chainId' }))
  const message = await messageFor(address, Number.isSafeInteger(chainId) ? chainId : 0)
  const signature = await provider.request({ method: 'personal_sign', params: [hexOf(message), address] })
  return { address, message, signature: String(signature) }
}

/** The account that the wallet gives, which its person may be asked for. */
export async function accountOf(provider: Provider): Promise<string> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  return Array.isArray(accounts) ? String(accounts[0]) : ''
}

/**
 * Lets the wallet be on the chain.
 * @param rpcUrl a node of it, for a wallet that does not know the chain; null where none is known
 */
export async function switchChain(provider: Provider, chainId: number, rpcUrl: string | null): Promise<void> {
  if (Number(await provider.request({ method: 'eth_chainId' })) === chainId) return
  const id = `0x${chainId.toString(16)}`
  const change = () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: id }] })
  try {
    await change()
  } catch (error) {
    if (isRejection(error) || rpcUrl === null) throw error
    // Fees are paid in dollars there; a wallet insists on a coin.
    const nativeCurrency = { name: 'US dollar', symbol: 'USD', decimals: 18 }
    const chain = { chainId: id, chainName: `Chain ${chainId}`, nativeCurrency, rpcUrls: [rpcUrl] }
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
    await change()
  }
}

/** Its person said no. */
export const isRejection = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 4001

/** Older wallets put themselves into the page. */
function injectedWallet(): readonly Wallet[] {
  const provider = 'ethereum' in window ? window.ethereum : undefined
  return isProvider(provider) ? [{ name: 'the browser’s wallet', provider }] : []
}

const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' && value !== null && 'request' in value && typeof value.request === 'function'

const hexOf = (text: string): string =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
