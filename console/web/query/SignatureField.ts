/** Signatures of events and functions that the query uses as tables: typed, or found by name. */
import { button, element, find } from '../element.ts'

export class SignatureField {
  readonly #input = find('signature', HTMLInputElement)
  readonly #known = find('known-events', HTMLElement)
  readonly #chosen = find('signatures', HTMLElement)
  readonly #changed: () => void
  #values: readonly string[] = []

  /** @param changed told when the reader added one or took one away */
  constructor(changed: () => void) {
    this.#changed = changed
    // Enter, a choice from the list and leaving the field all say that the text is whole.
    this.#input.addEventListener('change', () => this.#add())
  }

  get values(): readonly string[] {
    return this.#values
  }

  set values(values: readonly string[]) {
    this.#values = [...new Set(values)]
    this.#chosen.replaceChildren(...this.#values.map((value) => this.#item(value)))
  }

  /** The events that the field finds while its reader types. */
  offer(events: readonly string[]): void {
    this.#known.replaceChildren(...events.map((value) => element('option', { value })))
  }

  #add(): void {
    const text = this.#input.value.trim()
    this.#input.value = ''
    if (text === '') return
    this.values = [...this.#values, text]
    this.#changed()
  }

  #item(value: string): HTMLElement {
    const drop = button(
      '×',
      () => {
        this.values = this.#values.filter((other) => other !== value)
        this.#changed()
      },
      { class: 'quiet', 'aria-label': `Leave out ${value}` },
    )
    return element('li', {}, element('code', {}, value), drop)
  }
}
