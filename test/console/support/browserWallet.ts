/** A browser’s wallet: it announces itself in the page, and signs and sends from this process with viem. */
import type { Page } from 'playwright-core'
import { createWalletClient, defineChain, hexToNumber, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

interface Asked {
  readonly method: string
  readonly params?: readonly unknown[]
}

type Answered = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** @param chains nodes of the chains that the wallet knows, by id */
export class BrowserWallet {
  /** Requests that its person is asked for. */
  readonly asked: string[] = []
  readonly #account: PrivateKeyAccount
  readonly #chains: Map<number, string>
  #chainId: number
  #refusal: { readonly code: number; readonly message: string } | null = null
  #gate: Promise<void> | null = null

  constructor(account: PrivateKeyAccount, chains: ReadonlyMap<number, string>) {
    this.#account = account
    this.#chains = new Map(chains)
    this.#chainId = [...chains.keys()][0] ?? 1
  }

  /** Into the page, and into each that it loads. */
  async install(page: Page): Promise<void> {
    await page.exposeFunction('askWallet', (asked: Asked) => this.#answer(asked))
    await page.addInitScript(announce)
  }

  /** The next signature or transaction is not made: by its person's word (4001), or for another reason. */
  refuseNext(code: number, message: string): void {
    this.#refusal = { code, message }
  }

  /** Requests to its person are sent, and told when the returned function is called. */
  tellLate(): () => void {
    let open = () => {}
    this.#gate = new Promise((resolve) => {
      open = resolve
    })
    return () => {
      this.#gate = null
      open()
    }
  }

  async #answer({ method, params = [] }: Asked): Promise<Answered> {
    try {
      return { result: await this.#result(method, params) }
    } catch (error) {
      const { code = -32_603, message = '' } = Object(error)
      return { error: { code: Number(code), message: String(message) } }
    }
  }

  async #result(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first] = params.map(Object)
    switch (method) {
      case 'eth_requestAccounts':
        return [this.#account.address]
      case 'eth_chainId':
        return `0x${this.#chainId.toString(16)}`
      case 'wallet_switchEthereumChain':
        if (!this.#chains.has(hexToNumber(first.chainId))) throw { code: 4902, message: 'unknown chain' }
        this.#chainId = hexToNumber(first.chainId)
        return null
      case 'wallet_addEthereumChain':
        this.#chains.set(hexToNumber(first.chainId), first.rpcUrls[0])
        return null
      case 'eth_sendTransaction':
        return this.#byPerson(method, () =>
          this.#client().sendTransaction({ to: first.to, data: first.data }),
        )
      case 'eth_signTypedData_v4':
        return this.#byPerson(method, () => this.#account.signTypedData(JSON.parse(String(params[1]))))
      default:
        return this.#client().request({ method, params } as never)
    }
  }

  async #byPerson(method: string, done: () => Promise<unknown>): Promise<unknown> {
    this.asked.push(method)
    const refusal = this.#refusal
    this.#refusal = null
    if (refusal) throw refusal
    const result = await done()
    await this.#gate
    return result
  }

  #client() {
    const url = this.#chains.get(this.#chainId)
    const chain = defineChain({
      ...{ id: this.#chainId, name: 'chain', rpcUrls: { default: { http: [] } } },
      nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
    })
    return createWalletClient({ account: this.#account, chain, transport: http(url) })
  }
}

/** Runs in the page. */
function announce(): void {
  const page = globalThis as unknown as EventTarget & { askWallet: (asked: Asked) => Promise<Answered> }
  const provider = {
    request: async (asked: Asked) => {
      const answer = await page.askWallet(asked)
      if ('error' in answer) throw answer.error
      return answer.result
    },
  }
  const detail = Object.freeze({ info: { uuid: '1', name: 'Test Wallet', rdns: 'test', icon: '' }, provider })
  page.addEventListener('eip6963:requestProvider', () =>
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })),
  )
}
