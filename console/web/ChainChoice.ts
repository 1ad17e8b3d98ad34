/** The chain chosen at the top of the page. */
import type { StatusReport } from '../model/wire.ts'
import { element, find } from './element.ts'

export class ChainChoice {
  readonly #select = find('chain', HTMLSelectElement)
  /** The chain of a link, asked for before the program said which chains it serves. */
  #wanted: number | null = null

  constructor(changed: () => void) {
    this.#select.addEventListener('change', changed)
  }

  get chainId(): number | null {
    return this.#select.value === '' ? this.#wanted : Number(this.#select.value)
  }

  want(chainId: number | null): void {
    this.#wanted = chainId
    if (chainId !== null && this.#select.options.length > 0) this.#select.value = `${chainId}`
  }

  offer({ chains }: StatusReport): void {
    const ids = chains.map(({ chainId }) => `${chainId}`)
    const local = new Set(chains.flatMap(({ chainId, isLocal }) => (isLocal ? [`${chainId}`] : [])))
    if (ids.join() === [...this.#select.options].map(({ value }) => value).join()) return
    const chosen = this.#select.value || `${this.#wanted ?? ''}`
    this.#select.replaceChildren(
      ...ids.map((id) =>
        element('option', { value: id, selected: id === chosen }, local.has(id) ? `${id} (local)` : id),
      ),
    )
  }
}
