/** A place on a page that is drawn anew only where what it shows has changed. */
import { element } from '../element.ts'

export class Part {
  readonly host = element('div', { class: 'part' })
  #drawn = ''

  /** @param shown all that `make` draws from */
  draw(shown: unknown, make: () => readonly (Node | null)[]): void {
    const key = JSON.stringify(shown)
    if (key === this.#drawn) return
    this.#drawn = key
    this.host.replaceChildren(...make().filter((node) => node !== null))
  }
}
